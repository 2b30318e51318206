/** Every import rule of `.dependency-cruiser.cjs` holds: an import against it is found, and the allowed ones are not. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../project/tree.mjs'

const { forbidden, options } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'))

/** Rule, the file that imports, what it imports. Files that are imported are made too. */
const THROUGH = [
  ['core-is-pure', 'core/routing/a1.ts', 'node:crypto'],
  ['core-is-pure', 'core/routing/a2.ts', 'zod'],
  ['core-is-pure', 'core/routing/a3.ts', '../../storage/storage.ts'],
  ['only-the-pipeline-picks-a-provider', 'http/b1.ts', '../providers/index.ts'],
  ['only-the-pipeline-picks-a-provider', 'management/b2.ts', '../providers/kling/index.ts'],
  ['vocabulary-imports-vocabulary', 'core/words.ts', './routing/order.ts'],
  ['protocols-do-not-know-each-other', 'core/protocols/chat/c1.ts', '../gemini/wire.ts'],
  ['core-does-not-know-the-protocol-registry', 'core/metering/c2.ts', '../protocols/index.ts'],
  ['providers-do-not-know-each-other', 'providers/vidu/d1.ts', '../kling/index.ts'],
  ['dialects-do-not-know-vendors', 'providers/dialects/d2.ts', '../kling/index.ts'],
  ['video-forms-do-not-know-vendors', 'providers/video-forms/d5.ts', '../kling/index.ts'],
  ['providers-are-pure', 'providers/vidu/d3.ts', 'node:fs'],
  ['providers-are-pure', 'providers/vidu/d4.ts', '../../upstream/send.ts'],
  ['upstream-stands-on-core', 'upstream/e1.ts', '../providers/index.ts'],
  ['upstream-speaks-through-undici', 'upstream/e2.ts', 'pg'],
  ['only-upstream-opens-connections', 'pipeline/e3.ts', 'undici'],
  ['only-upstream-opens-connections', 'management/e4.ts', 'node:https'],
  ['notify-sends-what-it-is-given', 'notify/e5.ts', '../storage/storage.ts'],
  ['only-notify-speaks-smtp', 'management/e6.ts', 'nodemailer'],
  ['payments-read-and-ask', 'payments/e7.ts', '../storage/storage.ts'],
  ['only-payments-knows-its-libraries', 'management/e8.ts', 'stripe'],
  ['storage-stands-on-core', 'storage/sql/f1.ts', '../../pipeline/route.ts'],
  ['engines-do-not-know-each-other', 'storage/sqlite/f2.ts', '../postgres/engine.ts'],
  ['shared-queries-know-no-engine', 'storage/sql/f3.ts', '../postgres/engine.ts'],
  ['shared-queries-know-no-engine', 'storage/sql/f4.ts', 'pg'],
  ['storage-is-asked-through-its-page', 'pipeline/f5.ts', '../storage/sql/keys.ts'],
  ['only-the-start-opens-storage', 'management/f6.ts', '../storage/open.ts'],
  ['the-pipeline-looks-down', 'pipeline/g1.ts', '../http/servers.ts'],
  ['the-pipeline-looks-down', 'pipeline/g2.ts', '../management/keys.ts'],
  ['the-pipeline-looks-down', 'pipeline/g3.ts', '../providers/kling/index.ts'],
  ['management-makes-no-calls', 'management/h1.ts', '../pipeline/route.ts'],
  ['management-makes-no-calls', 'management/h2.ts', '../upstream/send.ts'],
  ['the-edge-only-translates', 'http/i1.ts', '../upstream/send.ts'],
  ['the-edge-only-translates', 'http/i2.ts', '../providers/provider.ts'],
  ['telemetry-stands-on-core', 'telemetry/j1.ts', '../storage/storage.ts'],
  ['config-stands-on-core', 'config/j2.ts', '../storage/storage.ts'],
  ['the-app-is-put-together-from-below', 'app/j3.ts', '../cli/cli.ts'],
  ['the-app-is-put-together-from-below', 'app/j4.ts', '../workers/primary.ts'],
  ['nobody-imports-the-app', 'pipeline/k1.ts', '../app/start-gateway.ts'],
  ['workers-run-the-app', 'workers/k3.ts', '../pipeline/route.ts'],
  ['the-root-is-the-process', 'another.ts', './pipeline/route.ts'],
  ['nobody-imports-main', 'app/k4.ts', '../main.ts'],
  ['nobody-imports-the-command-line', 'http/k2.ts', '../cli/cli.ts'],
  ['no-circles', 'pipeline/m1.ts', './m2.ts'],
  ['no-circles', 'core/n1/a.ts', '../../telemetry/n2.ts'],
  ['products-do-not-import-tests', 'pipeline/o1.ts', './order.test.ts'],
  ['dependencies-are-declared', 'config/o2.ts', 'vitest'],
  ['console-pages-do-not-know-each-other', 'console/src/keys/s1.ts', '../calls/list.ts'],
  ['console-pages-hang-in-the-frame', 'console/src/keys/s2.ts', '../app/frame/frame.ts'],
  ['console-parts-know-no-page', 'console/src/parts/s3.ts', '../keys/page.ts'],
  ['console-asks-by-its-client', 'console/src/api/s4.ts', '../../../server/src/core/money.ts'],
]

/** What the architecture allows; no rule may name these. */
const ALLOWED = [
  ['pipeline/p1.ts', '../providers/index.ts'],
  ['pipeline/p2.ts', '../storage/storage.ts'],
  ['pipeline/p3.ts', '../upstream/send.ts'],
  ['http/p4.ts', '../pipeline/route.ts'],
  ['http/p5.ts', '../storage/storage.ts'],
  ['http/p6.ts', 'node:http'],
  ['http/p7.ts', 'fastify'],
  ['storage/postgres/p8.ts', 'pg'],
  ['storage/open.ts', './postgres/engine.ts'],
  ['upstream/p9.ts', 'undici'],
  ['cli/q1.ts', '../app/start-gateway.ts'],
  ['app/q9.ts', '../providers/index.ts'],
  ['app/r1.ts', '../storage/open.ts'],
  ['app/r2.ts', '../version.ts'],
  ['workers/r3.ts', '../app/start-gateway.ts'],
  ['start.ts', './workers/primary.ts'],
  ['cli/q2.ts', '../storage/open.ts'],
  ['providers/vidu/q3.ts', '../dialects/chat.ts'],
  ['core/protocols/chat/q4.ts', '../protocol.ts'],
  ['management/q5.ts', 'node:crypto'],
  ['pipeline/q6.test.ts', '../http/servers.ts'],
  ['notify/q7.ts', '../upstream/send.ts'],
  ['management/q8.ts', '../notify/messenger.ts'],
]
/** Imported by the tables above and closing the two circles. */
const MORE = [
  ['pipeline/m2.ts', './m1.ts'],
  ['telemetry/n2.ts', '../core/n1/a.ts'],
  ['console/src/keys/t1.ts', '../parts/amount.ts'],
  ['console/src/keys/t2.ts', '../app/frame-route.ts'],
  ['console/src/app/t3.ts', '../keys/page.ts'],
]

let folder
let broken

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-import-rules-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const edges = [...THROUGH.map(([, file, target]) => [file, target]), ...ALLOWED, ...MORE]
  for (const [file, target] of edges) {
    if (target.startsWith('.')) writeSource(join(dirname(file), target), '')
  }
  for (const [file, target] of edges) writeSource(file, `import { x } from '${target}'\nexport const y = x\n`)
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({
      dependencies: { pg: '*', undici: '*', fastify: '*', zod: '*' },
      devDependencies: { vitest: '*' },
    }),
  )
  const { output } = await cruise(['server/src', 'console/src'], {
    ...options,
    baseDir: folder,
    ruleSet: { forbidden },
    validate: true,
    preserveSymlinks: true,
  })
  broken = output.summary.violations.map(({ rule, from, to }) => ({
    rule: rule.name,
    from: from.replace('server/src/', ''),
    to,
  }))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Of `server/src`, where it is not the console's. */
function writeSource(file, text) {
  const path = join(folder, /^(console|server)\//.test(file) ? '' : 'server/src', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text || 'export const x = 1\n')
}

describe('an import rule stops', () => {
  test.each(THROUGH)('%s: %s importing %s', (rule, file) => {
    expect(broken.filter(({ from }) => from === file).map((violation) => violation.rule)).toContain(rule)
  })

  test('every rule has an import above that breaks it', () => {
    const shown = new Set(THROUGH.map(([rule]) => rule))
    expect(forbidden.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([])
  })
})

describe('an import rule lets through', () => {
  test.each(ALLOWED)('%s importing %s', (file) => {
    expect(broken.filter(({ from }) => from === file)).toEqual([])
  })
})
