// ForceAtlas2 off the main thread: positions come back as they get better, and painting never waits for them.

import { iterate } from "/vendor/forceatlas2.js";

const PER_NODE = 10;
let run = 0;

onmessage = ({ data }) => {
  run += 1;
  if (data.stop) return;
  const { nodes, edges, settings, iterations, every } = data;
  const mine = run;
  let done = 0;
  const step = () => {
    if (mine !== run) return;
    const until = performance.now() + every;
    do {
      iterate(settings, nodes, edges);
      done += 1;
    } while (done < iterations && performance.now() < until);
    const places = new Float32Array((nodes.length / PER_NODE) * 2);
    for (let at = 0; at < nodes.length; at += PER_NODE) {
      places[(at / PER_NODE) * 2] = nodes[at];
      places[(at / PER_NODE) * 2 + 1] = nodes[at + 1];
    }
    const last = done >= iterations;
    postMessage({ places, last, run: data.run }, [places.buffer]);
    if (!last) setTimeout(step, 0); // so that a message to stop is read
  };
  step();
};
