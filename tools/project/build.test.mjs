/** A gateway that runs while its tree is built anew still finds what it has not read yet; what is built is small in memory. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildWhenNeeded, lastBuild } from './build.mjs'
import { root as repository } from './tree.mjs'

let root
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-build-'))
  for (const folder of ['server/src', 'tools/project', 'node_modules'])
    mkdirSync(join(root, folder), { recursive: true })
  copyFileSync(join(repository, 'tools/project/build.mjs'), join(root, 'tools/project/build.mjs'))
  copyFileSync(join(repository, 'package.json'), join(root, 'package.json'))
  writeFileSync(join(root, 'node_modules/.package-lock.json'), '{}')
  writeFileSync(join(root, 'server/src/main.ts'), "export const late = () => import('./late.ts')\n")
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

/** Builds with a lazily read file of this content; gives the chunks that lie there afterwards. */
async function built(content) {
  writeFileSync(join(root, 'server/src/late.ts'), `export const text = ${JSON.stringify(content)}\n`)
  await buildWhenNeeded(root)
  return readdirSync(join(root, 'server/dist')).filter((name) => /^late-.*\.js$/.test(name))
}

test('chunks of the former build stay for one build more, and no longer', async () => {
  const [first] = await built('one')
  const afterSecond = await built('the second')
  expect(afterSecond).toContain(first)
  expect(afterSecond).toHaveLength(2)
  const afterThird = await built('and the third')
  expect(afterThird).not.toContain(first)
  expect(afterThird).toEqual(expect.arrayContaining(afterSecond.filter((name) => name !== first)))
  expect(afterThird).toHaveLength(2)
})

test('a build that makes the same files removes nothing', async () => {
  await built('one')
  const afterSecond = await built('the second')
  expect(await built('the second')).toEqual(afterSecond)
})

/** Strings are escaped; in a regular expression write `\uXXXX`. */
test('no file of the build has a character beyond ASCII, for which V8 would keep all of it with two bytes each', () => {
  const output = join(repository, 'server/dist')
  const { outputs } = lastBuild(output)
  const wide = outputs.filter(
    (name) => name.endsWith('.js') && readFileSync(join(output, name)).some((byte) => byte > 0x7f),
  )
  expect(outputs).toContain('main.js')
  expect(wide).toEqual([])
})

/** Files that these chunks were made of, and those they import. */
function sourcesBehind(output, names) {
  const read = new Set()
  const sources = new Set()
  const visit = (name) => {
    if (read.has(name)) return
    read.add(name)
    for (const source of JSON.parse(readFileSync(join(output, `${name}.map`), 'utf8')).sources)
      sources.add(source)
    for (const [, other] of readFileSync(join(output, name), 'utf8').matchAll(
      /(?:from|import)\s*"\.\/([^"]+)"/g,
    ))
      visit(other)
  }
  names.forEach(visit)
  return [...sources]
}

test('what a start reads first is neither the management API nor a package that is rarely used', () => {
  const output = join(repository, 'server/dist')
  const { outputs } = lastBuild(output)
  const named = (pattern) => outputs.filter((name) => pattern.test(name))
  const firsts = named(/^(main|run-process-\w+|run-gateway-\w+)\.js$/)
  const api = named(/^api-\w+\.js$/)
  expect([firsts.length, api.length]).toEqual([3, 1])
  const sources = sourcesBehind(output, firsts)
  expect(sources.some((path) => path.endsWith('src/app/start-gateway.ts'))).toBe(true)
  const LATER =
    /src\/http\/management\/routes\/|node_modules\/(fastify|ajv|yaml|libphonenumber-js|zod\/v4\/locales\/(?!en\.)|undici\/(index|lib\/web\/(websocket|cookies|cache)\/))/
  expect(sources.filter((path) => LATER.test(path))).toEqual([])
})
