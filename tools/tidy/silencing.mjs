/** A silenced check carries its reason; an unfinished place is not committed (docs/style.md, Tests and Comments). */
const RULES = [
  {
    form: /@ts-ignore|@ts-nocheck/,
    message: 'never ignore a type error; parse at the edge or use @ts-expect-error with a reason in a test',
  },
  {
    form: /@ts-expect-error(?!\s*[-:–]?\s*\w+\s+\w+)/,
    message: 'say in the same line why the error is expected',
  },
  {
    form: /(biome-ignore|oxlint-disable|eslint-disable)(?!.*(--|:)\s*\w+\s+\w+)/,
    message: 'say in the same line, after --, why the rule does not hold here',
  },
  { form: /\b(test|it|describe)\.only\(/, message: 'other tests are switched off by this; remove .only' },
  {
    form: /\bvi\.mock\(/,
    message: 'no module mocks: script an upstream or pass a value in (docs/style.md, Tests)',
  },
  { form: /\b(TODO|FIXME|XXX|HACK)\b/, message: 'finish it, or open an issue and leave the sentence out' },
  {
    form: /\/\/.*\bissues? #?\d|\/\/.*\bpull request #?\d|\*.*\bissue #?\d/i,
    message: 'say the reason itself; numbers of issues mean nothing to a reader of the file',
  },
]

export function checkSilencing(tree) {
  const files = tree.files.filter((file) => /\.(ts|mjs|cjs)$/.test(file) && !file.startsWith('tools/tidy/'))
  return files.flatMap((file) =>
    tree
      .read(file)
      .split('\n')
      .flatMap((text, index) =>
        RULES.filter(({ form }) => form.test(text)).map(({ message }) => ({
          file,
          line: index + 1,
          message,
        })),
      ),
  )
}
