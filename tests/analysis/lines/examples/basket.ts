import type { Fruit } from './fruit';
import scale = require('scale');

interface Basket {
  fruits: readonly Fruit[];
}

export class Counter<T extends Basket> {
  private readonly seen = new Map<string, number>();

  /** How many of a name. */
  count(basket: T, name: string): number {
    // those that were seen before count too
    const maySee = basket.fruits.filter((fruit) => fruit.name === name);
    this.seen.set(name, maySee.length);  // may be 0
    const text = `may
      be long`;
    return (this.seen.get(name) ?? 0) + text.length + Number('may');
  }
}
