/**
 * Holds the OpenAPI document against three readers that know nothing of each other: a parser that resolves every reference
 * and checks the form of the standard, a linter's strict rules (paths and their parameters, examples, security), and a
 * compiler that takes no schema it does not wholly understand. Prints what each of them refuses.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './project/tree.mjs'
import { compilerFindings, linterFindings, parserFindings } from './openapi/readers.mjs'

const file = process.argv[2] ?? join(root, 'docs/reference/openapi.json')
const text = readFileSync(file, 'utf8')
const findings = [...(await parserFindings(text)), ...(await linterFindings(text)), ...compilerFindings(text)]
for (const finding of findings) console.log(finding)
process.exit(findings.length === 0 ? 0 : 1)
