/**
 * Adds without spreading: the arguments of a function call lie on the stack, and a body may hold more items than fit
 * there.
 */
export function addAll<Item>(target: Item[], items: readonly Item[]): void {
  for (const item of items) target.push(item)
}
