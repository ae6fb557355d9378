/** The basket of a visitor. */
export class Cart {
  private lines: Map<string, number> = new Map();

  /** Puts an article into the basket, or more of it. */
  add(article: string, count: number): void {
    this.lines.set(article, (this.lines.get(article) ?? 0) + count);
  }

  /** What all lines cost together, in cents. */
  total(prices: Map<string, number>): number {
    let sum = 0;
    for (const [article, count] of this.lines) sum += (prices.get(article) ?? 0) * count;
    return sum;
  }
}
