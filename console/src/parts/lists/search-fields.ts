/** Readers of search parameters; invalid values count as absent. */

/** The router parses numbers in the address; a name may look like one. */
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

/** Changes of search parameters; undefined removes one. */
export type Change<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined }

/** Removes undefined members, so that they do not appear in the address. */
export function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  // The entries are those of `fields`, without the undefined ones.
  return Object.fromEntries(entries) as Present<Fields>
}
