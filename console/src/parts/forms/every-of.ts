/** The values of a union of the contract as a list, by a table of them: one that is missing there does not compile. */
export function everyOf<Value extends string>(
  table: Readonly<Record<Value, true>>,
): {
  readonly all: readonly Value[]
  readonly is: (text: string) => text is Value
} {
  const is = (text: string): text is Value => Object.hasOwn(table, text)
  return { all: Object.keys(table).filter(is), is }
}
