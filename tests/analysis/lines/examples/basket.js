// A basket of fruit.
import { weigh } from './scale.js';

export function total(fruits) {
  /* Adds the weights,
     one after another. */
  let mayWeigh = 0;
  for (const fruit of fruits) { // may be empty
    // not the basket itself
    mayWeigh += weigh(fruit, { mayPeel: true });

  }
  const page = `<p>may begin here
    inside a string
  </p>`;
  return mayWeigh + page.length;
}

const mean = (fruits) => {
  const mayCount = Math.max(1, fruits.length);
  const scale = require('scale');
  return total(fruits) / mayCount;
};
const short = () => 1;
