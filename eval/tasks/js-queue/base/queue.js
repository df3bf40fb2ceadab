// Queue runs up to limit jobs at once, in the order in which they came. A job is a function that may return
// a promise.
export class Queue {
  constructor({ limit = 1 } = {}) {
    this.limit = limit;
    this.running = 0;
    this.waiting = [];
  }

  // add returns a promise of the job's result.
  add(job) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ job, resolve, reject });
      this.next();
    });
  }

  next() {
    while (this.running < this.limit && this.waiting.length > 0) {
      this.run(this.waiting.shift());
    }
  }

  async run({ job, resolve, reject }) {
    this.running++;
    try {
      resolve(await job());
    } catch (error) {
      reject(error);
    }
    this.running--;
    this.next();
  }
}
