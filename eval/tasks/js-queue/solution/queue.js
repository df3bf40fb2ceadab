// Queue runs up to limit jobs at once, in the order in which they came. A job is a function that may return
// a promise; one that fails is tried again up to retries times, behind the others.
export class Queue {
  constructor({ limit = 1, retries = 0 } = {}) {
    this.limit = limit;
    this.retries = retries;
    this.running = 0;
    this.waiting = [];
    this.drained = [];
  }

  // add returns a promise of the job's result.
  add(job) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ job, resolve, reject, left: this.retries });
      this.next();
    });
  }

  // drain returns a promise that is fulfilled once nothing runs or waits.
  drain() {
    return new Promise((resolve) => {
      this.drained.push(resolve);
      this.next();
    });
  }

  next() {
    while (this.running < this.limit && this.waiting.length > 0) {
      this.run(this.waiting.shift());
    }
    if (this.running === 0 && this.waiting.length === 0) {
      for (const resolve of this.drained.splice(0)) resolve();
    }
  }

  async run(item) {
    this.running++;
    try {
      item.resolve(await item.job());
    } catch (error) {
      if (item.left-- > 0) {
        this.waiting.push(item);
      } else {
        item.reject(error);
      }
    }
    this.running--;
    this.next();
  }
}
