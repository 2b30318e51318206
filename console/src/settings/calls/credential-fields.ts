/** Parses lines of `name = value`; undefined: a line is invalid, or there is none. */
export function fieldsOf(text: string): Readonly<Record<string, string>> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const fields = lines.map((line) => /^\s*([a-z][a-z0-9_]*)\s*[=:]\s*(\S.*?)\s*$/.exec(line))
  if (fields.length === 0 || fields.includes(null)) return undefined
  return Object.fromEntries(fields.map((field) => [field?.[1] ?? '', field?.[2] ?? '']))
}
