/**
 * `npm run check`: everything a machine can say about the tree, without running the tests. Checks run side by side, as
 * many as there are cores; what passed is one line, what failed is shown whole, with how to mend it.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { writeConsoleTypesWhenNeeded } from './project/build-console.mjs'
import { requireNode } from './project/require-node.mjs'
import { root } from './project/tree.mjs'

const binary = (path) => join(root, 'node_modules', path)

/** Longest first, so that the cores are busy to the end. */
const CHECKS = [
  {
    name: 'import rules',
    run: [
      binary('dependency-cruiser/bin/dependency-cruise.mjs'),
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err-long',
      'server/src',
      'console/src',
    ],
    mend: 'Each broken rule says why it stands and what to do instead; the rules are in .dependency-cruiser.cjs.',
  },
  {
    name: 'dead code',
    run: [binary('knip/bin/knip.js'), '--no-progress'],
    mend: 'Delete what nobody uses, or drop the word export where only its own file does. Entry points are listed in knip.json.',
  },
  {
    name: 'types',
    run: [binary('@typescript/native/bin/tsc'), '-p', 'server/tsconfig.json'],
    mend: 'tsc names the place and the reason. No any, no !, no as: parse at the edge and let the type follow.',
  },
  {
    name: 'console types',
    run: [binary('@typescript/native/bin/tsc'), '-p', 'console/tsconfig.json'],
    mend: 'The answers of the gateway have the types of docs/reference/openapi.json: a route that changed is changed here too.',
  },
  {
    name: 'lint',
    run: [binary('oxlint/bin/oxlint'), '--type-aware'],
    mend: 'The rules are in .oxlintrc.json, the reasons in docs/style.md. `npx oxlint --type-aware --fix` mends the simple ones.',
  },
  {
    name: 'tidy',
    run: ['tools/tidy.mjs'],
    mend: 'Each finding says what to do. The checks are in tools/tidy.',
  },
  {
    name: 'reference pages',
    run: ['tools/reference.mjs', '--check'],
    mend: 'Run `node tools/reference.mjs` and commit what it writes.',
  },
  {
    name: 'OpenAPI document',
    run: ['tools/openapi-validity.mjs'],
    mend: 'The document is written from the routes and from server/src/http/management/openapi: mend it there, then `node tools/reference.mjs`.',
  },
  {
    name: 'console weight',
    run: ['tools/console-weight.mjs', '--check'],
    mend: 'What is not needed to see the page is loaded when it is used: `lazy(() => import(…))`. The budgets are in tools/console-weight.mjs.',
  },
  {
    name: 'format',
    run: [binary('@biomejs/biome/bin/biome'), 'format', '.'],
    mend: 'Run `npm run format`.',
  },
]

requireNode(root)
writeConsoleTypesWhenNeeded(root)
const wanted = process.argv.slice(2)
const chosen = CHECKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
if (chosen.length === 0) {
  console.error(`no such check; there are: ${CHECKS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const failed = await runAll(chosen)
if (failed.length > 0) {
  console.error(`\n${failed.length} of ${chosen.length} checks failed: ${failed.join(', ')}`)
  process.exit(1)
}
console.log(`\nall ${chosen.length} checks passed`)

/** Resolves to the names of the checks that failed. */
async function runAll(checks) {
  const waiting = [...checks]
  const failures = []
  const worker = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      if (!(await runOne(check))) failures.push(check.name)
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  return failures
}

async function runOne({ name, run, mend }) {
  const startedAt = performance.now()
  const { code, output } = await runNode(run)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  if (code === 0) {
    console.log(`ok    ${name} (${seconds} s)`)
    const notes = output.trim()
    if (name === 'reference pages' && notes !== '') console.log(indent(notes))
    return true
  }
  console.log(`FAIL  ${name} (${seconds} s)\n${indent(output.trim())}\n      To mend: ${mend}`)
  return false
}

function runNode(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1' },
    })
    const parts = []
    child.stdout.on('data', (part) => parts.push(part))
    child.stderr.on('data', (part) => parts.push(part))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output: Buffer.concat(parts).toString('utf8') }))
  })
}

function indent(text) {
  return text.replace(/^/gm, '      ')
}
