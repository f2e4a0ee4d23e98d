/**
 * The workflow of `cargo xtask bench runtime` for Restate: ten steps that do nothing, each recorded before the next.
 */

import http2 from "node:http2";

// Node 20 lacks what the SDK takes for granted.
Promise.withResolvers ??= function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};
const restate = await import("@restatedev/restate-sdk");

const STEPS = 10;

const bench = restate.service({
  name: "bench",
  handlers: {
    ten_steps: async (context, first) => {
      let number = first;
      for (let step = 0; step < STEPS; step += 1) {
        number = await context.run("next", () => number + 1);
      }
      return number;
    },
  },
});

const handler = restate.createEndpointHandler({ services: [bench] });
http2.createServer(handler).listen(Number(process.argv[2]), "127.0.0.1");
