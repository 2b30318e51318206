/** Readers of search parameters; invalid values count as absent. */

/** Numbers come as numbers from the address; a name may look like one. */
export function textField(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function choiceField<Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === value)
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** What is to stand in the address from now on; undefined: no more. */
export type Change<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined }

/** Leaves out what is undefined, so that it does not stand in the address. */
export function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  // The entries are those of `fields`, without the undefined ones.
  return Object.fromEntries(entries) as Present<Fields>
}
