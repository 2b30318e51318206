/** All values of a union type as a list, from a table: if one is missing there, it does not compile. */
export function everyOf<Value extends string>(
  table: Readonly<Record<Value, true>>,
): {
  readonly all: readonly Value[]
  readonly is: (text: string) => text is Value
} {
  const is = (text: string): text is Value => Object.hasOwn(table, text)
  return { all: Object.keys(table).filter(is), is }
}
