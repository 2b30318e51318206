/**
 * Writes the reference pages that come from tables in the code, and the contract page from the tests.
 * `--check` writes nothing and fails when a page is not current; `--import` takes the contract's rows from the checklist
 * that lies beside the checkout.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireNode } from './project/require-node.mjs'
import { openTree, root } from './project/tree.mjs'
import { commandLinePage } from './reference/command-line.mjs'
import { configurationPage } from './reference/configuration.mjs'
import {
  BASELINE,
  checklistBeside,
  contractFindings,
  contractPage,
  coverageText,
  importChecklist,
  lowered,
  PAGE,
  readContract,
} from './reference/contract.mjs'
import { errorsPage } from './reference/errors.mjs'
import { protocolMatrixPage } from './reference/protocol-matrix.mjs'
import { openapiDocument } from './reference/openapi.mjs'
import { vendorKindsPage } from './reference/vendor-kinds.mjs'

const isCheck = process.argv.includes('--check')
const isImport = process.argv.includes('--import')
requireNode(root)
const tree = openTree()
const checklist = checklistBeside()
if (isImport && checklist === undefined) throw new Error('there is no checklist beside the checkout')
const contract = isImport ? importChecklist(tree, checklist) : readContract(tree)
const baseline = tree.files.includes(BASELINE) ? JSON.parse(tree.read(BASELINE)) : {}

const pages = {
  [PAGE]: contractPage(contract),
  [BASELINE]: `${JSON.stringify(lowered(baseline, contract.areas), undefined, 2)}\n`,
  'docs/reference/errors.md': await errorsPage(),
  'docs/reference/configuration.md': await configurationPage(),
  'docs/reference/command-line.md': await commandLinePage(),
  'docs/reference/protocol-matrix.md': await protocolMatrixPage(),
  'docs/reference/vendor-kinds.md': await vendorKindsPage(),
  'docs/reference/openapi.json': await openapiDocument(),
}
const stale = Object.entries(pages).filter(
  ([file, text]) => !tree.files.includes(file) || tree.read(file) !== text,
)
const findings = contractFindings(contract, baseline, isImport ? undefined : checklist)

console.log(coverageText(contract))
for (const finding of findings) console.log(finding)
if (isCheck) {
  for (const [file] of stale)
    console.log(`${file} is not what the tables say; run \`node tools/reference.mjs\``)
} else {
  for (const [file, text] of stale) {
    writeFileSync(join(root, file), text)
    console.log(`wrote ${file}`)
  }
}
process.exit(findings.length > 0 || (isCheck && stale.length > 0) ? 1 : 0)
