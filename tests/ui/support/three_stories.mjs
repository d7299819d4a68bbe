// Test data for stories/tries.mjs: one story that passes, one that fails at first, one that always fails.
import { playAll } from './tries.mjs';

let tries = 0;
const stories = [
  { name: 'sound', play: () => {} },
  { name: 'shaky', play: () => { if (tries++ === 0) throw new Error('no window\nat first'); } },
  { name: 'broken', play: () => { throw new Error('never works'); } },
].filter(({ name }) => process.argv.includes(name));

playAll(stories, { perform: async (play) => play(), concurrency: 2, close: () => {} });
