'use strict';
// A queue with a limit on how many tasks run.
import { once } from 'node:events';

const LIMIT = 4;
let running = 0, waiting = 0;
var legacy;

export class Queue extends Base {
  #tasks = [];
  static shared = new Queue();

  constructor(limit = LIMIT) {
    super();
    this.limit = limit;
  }

  get size() {
    return this.#tasks.length;
  }

  async push(task, { first = false } = {}) {
    if (first) this.#tasks.unshift(task);
    else this.#tasks.push(task);
    return this.#next();
  }

  #next() {
    const run = () => this.#tasks.shift()?.();
    return run();
  }
}

export default function createQueue(options) {
  function limitOf(value) {
    return value ?? LIMIT;
  }
  return new Queue(limitOf(options.limit));
}

export const double = (x) => x * 2;
const triple = function (x) { return x * 3; };
export async function* drain(queue) {
  while (queue.size) yield await once(queue, 'task');
}

module.exports.helper = () => 1;

describe('Queue', () => {
  beforeEach(() => { running = 0; });

  it('starts empty', () => {
    expect(new Queue().size).toBe(0);
  });

  test("runs tasks", async () => {
    await new Queue().push(() => 1);
  });
});
