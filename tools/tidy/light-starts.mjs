/**
 * What a person waits for begins with few modules: what an entry imports is read before its first line runs, so a heavy
 * package that stands in one of these graphs is paid for by every command. What few need is imported where it is used.
 */
import { dirname, join } from 'node:path/posix'
import { syntaxOf, typescript } from '../project/syntax.mjs'

/** Options in the gateway file's form, the environment, rows, and the month of a cap: 20 ms of CPU. */
const READING = ['yaml', 'ipaddr.js', 'kysely', 'temporal-polyfill']

/**
 * `packages`: all that may be reached from the entry by plain imports. `files`: ours, where only some may; an old Node has
 * to be able to read them.
 */
const LIGHT = [
  { entry: 'server/src/main.ts', packages: [], files: ['server/src/config/node-version.ts'] },
  { entry: 'server/src/cli/cli.ts', packages: [], files: ['server/src/config/node-version.ts'] },
  { entry: 'server/src/cli/run-here.ts', packages: ['commander', 'ipaddr.js'] },
  ...[
    'accounts/accounts',
    'accounts/codes',
    'accounts/grant',
    'accounts/keys',
    'accounts/organisations',
    'calls/logs',
    'calls/usage',
  ].map((command) => ({
    entry: `server/src/cli/commands/${command}.ts`,
    packages: READING,
  })),
  // Loaded when somebody asks for what they do.
  {
    entry: 'server/src/workers/run-process.ts',
    never: ['gpt-tokenizer', 'pg', 'nodemailer', 'stripe', '@aws-sdk/client-s3', 'openid-client'],
  },
]

export function checkLightStarts(tree) {
  return LIGHT.filter(({ entry }) => tree.exists(entry)).flatMap((light) => findingsOf(tree, light))
}

function findingsOf(tree, { entry, packages, files, never }) {
  const reached = reach(tree, entry)
  const forbidden = (name) => (never === undefined ? !packages.includes(name) : never.includes(name))
  const findings = [...reached.packages]
    .filter(([name]) => forbidden(name))
    .map(([name, path]) => ({
      file: path.at(-1),
      message: `${entry} loads ${name} with every start, by way of ${path.join(' → ')}; import it where it is used: await import(…)`,
    }))
  const strangers = [...reached.files].filter((file) => files !== undefined && !files.includes(file))
  return [
    ...findings,
    ...strangers.map((file) => ({
      file: entry,
      message: `imports ${file}, which an old Node may not be able to read; import it after the look at Node`,
    })),
  ]
}

/** Every file and package that is loaded with the entry; packages with the files that lead to them. */
function reach(tree, entry) {
  const files = new Set()
  const packages = new Map()
  const waiting = [[entry]]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const name of importsOf(tree, path.at(-1))) {
      if (name.startsWith('node:')) continue
      if (!name.startsWith('.')) packages.set(packageOf(name), packages.get(packageOf(name)) ?? path)
      const file = join(dirname(path.at(-1)), name)
      if (!name.startsWith('.') || files.has(file) || !tree.exists(file)) continue
      files.add(file)
      waiting.push([...path, file])
    }
  }
  return { files, packages }
}

function importsOf(tree, file) {
  return syntaxOf(tree, file).statements.flatMap((statement) => {
    const isLoad =
      (typescript.isImportDeclaration(statement) && statement.importClause?.isTypeOnly !== true) ||
      (typescript.isExportDeclaration(statement) && !statement.isTypeOnly)
    return isLoad && statement.moduleSpecifier !== undefined ? [statement.moduleSpecifier.text] : []
  })
}

const packageOf = (name) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
