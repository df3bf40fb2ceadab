// Serves the durable steps that the benchmark `task` compares with: the handler runs as
// many empty steps as it is asked for, each recorded by the Restate server before the
// next begins. The port is the first argument.

// The SDK expects this function, which Node 20 does not have.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new this((a, b) => { resolve = a; reject = b; });
  return { promise, resolve, reject };
};

const restate = await import("@restatedev/restate-sdk");

const steps = restate.service({
  name: "steps",
  handlers: {
    flow: async (ctx, count) => {
      for (let i = 0; i < count; i++) await ctx.run(`step ${i}`, () => i);
      return count;
    },
  },
});

await restate.endpoint().bind(steps).listen(Number(process.argv[2]));
