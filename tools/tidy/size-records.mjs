/**
 * A ratchet at the screen's edge (docs/style.md, Files and functions): no limit, but what fits a screen stays so, and what
 * is longer does not grow unseen. The records are the sizes somebody has looked at and found to be one idea.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endLineOf, lineOf, syntaxOf, typescript, walk } from '../project/syntax.mjs'
import { isConsoleSource, isProductSource } from '../project/tree.mjs'

const FUNCTION_LINES = 50
const FILE_LINES = 400
const RECORDS = 'tools/tidy/size-records.json'

export function checkSizes(tree) {
  const records = tree.files.includes(RECORDS) ? JSON.parse(tree.read(RECORDS)) : {}
  const functions = longFunctions(tree)
    .filter(({ key, lines }) => lines > (records[key] ?? FUNCTION_LINES))
    .map(({ file, line, name, lines }) => ({
      file,
      line,
      message: `${name} has ${lines} lines and no longer fits a screen; split it, or if it is one idea run \`node tools/tidy.mjs --accept\` and say so in the commit`,
    }))
  return [...functions, ...longFilesWithoutReason(tree)]
}

/** Writes down the sizes of today: what shrank can no longer grow back. */
export function acceptRecords(tree, root) {
  const records = Object.fromEntries(longFunctions(tree).map(({ key, lines }) => [key, lines]))
  writeFileSync(join(root, RECORDS), `${JSON.stringify(records, undefined, 2)}\n`)
}

function longFunctions(tree) {
  const sources = tree.files.filter((file) => isProductSource(file) || isConsoleSource(file))
  return sources.flatMap((file) => {
    const source = syntaxOf(tree, file)
    const found = []
    walk(source, (node) => {
      if (!typescript.isFunctionLike(node) || node.body === undefined) return
      const line = lineOf(source, node)
      const lines = endLineOf(source, node) - line + 1
      if (lines <= FUNCTION_LINES) return
      const name = nameOf(node)
      found.push({ file, line, name, lines, key: `${file} ${name}` })
    })
    return found
  })
}

function nameOf(node) {
  const named = node.name ?? node.parent?.name
  return named === undefined ? 'a function without a name' : named.getText()
}

function longFilesWithoutReason(tree) {
  return tree.files
    .filter((file) => isProductSource(file) || isConsoleSource(file))
    .filter((file) => tree.read(file).split('\n').length > FILE_LINES && !tree.read(file).startsWith('/**'))
    .map((file) => ({
      file,
      message: `is longer than ${FILE_LINES} lines; split it, or say at its head, in a comment that begins the file, what one idea it is`,
    }))
}
