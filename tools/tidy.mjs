/**
 * What a linter cannot say. Each check is a function from the tree to findings, each finding a place, what is wrong and
 * what to do. `node tools/tidy.mjs --accept` lowers the records of the ratchets to what the tree has now.
 */
import { openTree, root } from './project/tree.mjs'
import { CHECKS } from './tidy/checks.mjs'
import { acceptRecords } from './tidy/size-records.mjs'

if (process.argv.includes('--accept')) acceptRecords(openTree(), root)

const tree = openTree()
const findings = CHECKS.flatMap(({ name, check }) => check(tree).map((finding) => ({ name, ...finding })))
for (const { name, file, line, message } of findings) {
  console.log(`${file}${line === undefined ? '' : `:${line}`}  ${message}  [${name}]`)
}
process.exit(findings.length === 0 ? 0 : 1)
