/**
 * Every file and folder that a document names exists: links, and paths in backticks. What `.gitignore` lists is made by
 * commands, and may be named before they have run.
 */
import { posix } from 'node:path'

const TOP_FOLDERS = /^(server|docs|tools|bench|deploy|console)\//
const FILE_NAME = /^[\w@.-]+(\/[\w@.-]+)*\.(ts|mjs|cjs|js|md|json|yaml|yml|conf|service)$/

/** Names of files that stand for a kind of file, or that the product makes when it runs. */
const NOT_OURS = new Set([
  'gateway.yaml',
  'gateway.json',
  'utils.ts',
  'index.ts',
  'charge.test.ts',
  'parts.json',
  'secret.key',
  'docker-compose.yml',
  'ipaddr.js',
])

export function checkDocLinks(tree) {
  const documents = tree.files.filter((file) => file.endsWith('.md'))
  return documents.flatMap((file) => checkDocument(tree, file))
}

function checkDocument(tree, file) {
  const findings = []
  let inBlock = false
  for (const [index, line] of tree.read(file).split('\n').entries()) {
    if (/^\s*```/.test(line)) inBlock = !inBlock
    if (inBlock) continue
    for (const target of targetsOf(line)) {
      if (!found(tree, file, target)) {
        findings.push({
          file,
          line: index + 1,
          message: `names ${target.text}, which does not exist; name what is there now`,
        })
      }
    }
  }
  return findings
}

function* targetsOf(line) {
  for (const match of line.matchAll(/\]\(([^)\s]+)\)/g)) {
    const text = match[1].split('#')[0]
    if (text !== '' && !/^[a-z]+:/.test(text)) yield { kind: 'link', text }
  }
  for (const match of line.matchAll(/`([^`]+)`/g)) {
    const text = match[1].replace(/(:\d+|#[\w.-]+)$/, '')
    if (/[*<>{}$ …]/.test(text) || text.startsWith('../shared')) continue
    if (TOP_FOLDERS.test(text) || (FILE_NAME.test(text) && !NOT_OURS.has(text))) yield { kind: 'path', text }
  }
}

/** Links are read from where they stand; paths in backticks may also be read from the root or from `server/src`. */
function found(tree, file, { kind, text }) {
  const beside = posix.normalize(posix.join(posix.dirname(file), text))
  if (tree.exists(beside) || isMade(tree, beside)) return true
  if (kind === 'link') return false
  if (tree.exists(text) || isMade(tree, text) || tree.exists(`server/src/${text}`)) return true
  // Documents of a module name a file by the tail of its path.
  return tree.files.some((path) => path.endsWith(`/${text}`))
}

/** True for the paths that `.gitignore` names from the root (those that begin with a slash), and for what is in them. */
function isMade(tree, path) {
  if (!tree.exists('.gitignore')) return false
  const made = tree
    .read('.gitignore')
    .split('\n')
    .filter((line) => line.startsWith('/'))
    .map((line) => line.slice(1).replace(/\/$/, ''))
  return made.some((folder) => path.replace(/\/$/, '') === folder || path.startsWith(`${folder}/`))
}
