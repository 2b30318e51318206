import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forwardModelId } from '../core/ids.ts'
import type * as registryModule from './index.ts'
import type { Provider } from './provider.ts'
import { type Order, PNG, PNG_BASE64, play, reply, submitted } from './video-forms/testing/order.ts'

type Registry = typeof registryModule

const SOURCE = fileURLToPath(new URL('..', import.meta.url))
const GUIDE = fileURLToPath(new URL('../../../docs/guides/add-a-provider.md', import.meta.url))

/** The guide's code blocks by the file they name. */
async function readSnippets(): Promise<ReadonlyMap<string, string>> {
  const guide = await readFile(GUIDE, 'utf8')
  const blocks = [...guide.matchAll(/```ts (\S+)\n([\s\S]*?)```/g)]
  return new Map(blocks.map(([, file, code]) => [file ?? '', code ?? '']))
}

/** A copy of what providers stand on, changed as the guide says. */
async function followGuide(copy: string, snippets: ReadonlyMap<string, string>): Promise<void> {
  const untested = (path: string): boolean => !path.endsWith('.test.ts') && !path.includes('testing')
  for (const room of ['core', 'providers']) {
    await cp(join(SOURCE, room), join(copy, 'server/src', room), { recursive: true, filter: untested })
  }
  const folder = join(copy, 'server/src/providers/northwind')
  await mkdir(folder, { recursive: true })
  const index = snippets.get('server/src/providers/northwind/index.ts') ?? ''
  const [importLine = '', memberLine = ''] = (
    snippets.get('server/src/providers/northwind/index.ts#video') ?? ''
  ).split('\n\n')
  await writeFile(join(folder, 'index.ts'), `${importLine}\n${index.replace(/\}\n$/, `${memberLine}}\n`)}`)
  await writeFile(join(folder, 'video.ts'), snippets.get('server/src/providers/northwind/video.ts') ?? '')
  const registry = join(copy, 'server/src/providers/index.ts')
  const written = await readFile(registry, 'utf8')
  const line = snippets.get('server/src/providers/index.ts') ?? ''
  await writeFile(registry, line + written.replace('  sandbox,\n', '  northwind,\n  sandbox,\n'))
}

describe('the guide to adding a provider', () => {
  let copy = ''
  let snippets: ReadonlyMap<string, string> = new Map()
  let northwind: Provider | undefined

  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'sluice-guide-'))
    snippets = await readSnippets()
    await followGuide(copy, snippets)
    const bundle = join(copy, 'registry.mjs')
    await build({
      entryPoints: [join(copy, 'server/src/providers/index.ts')],
      bundle: true,
      format: 'esm',
      outfile: bundle,
      logLevel: 'silent',
    })
    const registry: Registry = await import(pathToFileURL(bundle).href)
    northwind = registry.providerOf('northwind')
  })

  afterAll(async () => {
    await rm(copy, { recursive: true, force: true })
  })

  test('leads to a provider the registry knows, at the address of the guide’s table row', () => {
    const row = snippets.get('server/src/providers/providers.test.ts') ?? ''
    const formed = northwind?.dialects.chat?.form({
      baseUrl: northwind.defaultBaseUrl ?? '',
      forwardModelId: forwardModelId('northwind-think-2'),
      operation: 'stream',
      fields: {},
    })
    expect(formed?.url).toBe(/'(https:[^']+)'/.exec(row)?.[1])
    expect(northwind?.dialects.chat?.auth).toEqual({ kind: 'bearer' })
  })

  test('whose models and errors are what the guide says of them', () => {
    const chat = northwind?.dialects.chat
    expect(chat?.capabilities(forwardModelId('northwind-think-2'))).toMatchObject({
      reasoning: 'effort',
      reasoningField: 'reasoning',
      seed: false,
    })
    expect(chat?.capabilities(forwardModelId('northwind-2'))).toMatchObject({ reasoning: 'none' })
    const body = { error: { code: 'tokens_used_up', message: 'top up' } }
    expect(chat?.classify({ status: 429, headers: {}, body })).toEqual({ kind: 'quota' })
  })

  test('whose videos are ordered and awaited as the guide says', () => {
    const order: Order = { model: 'northwind-video-1', baseUrl: northwind?.defaultBaseUrl ?? '' }
    const video = northwind?.video
    if (video === undefined) throw new Error('the guide leads to no video side')
    const request = { seconds: '9', size: { width: 1080, height: 1920 }, firstFrame: PNG, seed: 7 }
    const formed = submitted(video, { ...order, request })
    expect(formed.request.url).toBe('https://api.northwind.example/v1/videos')
    expect(JSON.parse(String(formed.request.body))).toEqual({
      model: 'northwind-video-1',
      prompt: 'a red kite',
      seconds: 9,
      ratio: '9:16',
      lines: '1080',
      first_picture: `data:image/png;base64,${PNG_BASE64}`,
    })
    expect(formed.dropped).toEqual(['seed'])
    const clip = { url: 'https://cdn.northwind.example/f1.mp4' }
    const { sent, last } = play(video, order, [
      reply({ id: 'f1', status: 'waiting' }),
      reply({ id: 'f1', status: 'finished', video: clip }),
    ])
    expect(sent[1]).toBe('GET https://api.northwind.example/v1/videos/f1')
    expect(last).toMatchObject({ kind: 'done', result: { kind: 'link', ...clip, lastsMs: 86_400_000 } })
    const error = { code: 'picture_refused', message: 'not this one' }
    expect(play(video, order, [reply({ id: 'f1', status: 'failed', error })]).last).toMatchObject({
      kind: 'failed',
      failure: { class: 'moderation', ...error },
    })
  })

  test('and whose code passes the type check of the project', async () => {
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('@typescript/native/package.json')),
      'bin/tsc',
    )
    const settings = {
      extends: join(SOURCE, '../tsconfig.json'),
      compilerOptions: { typeRoots: [join(SOURCE, '../../node_modules/@types')] },
      include: [],
      files: ['server/src/providers/index.ts'],
    }
    await writeFile(join(copy, 'package.json'), '{"type":"module"}')
    await writeFile(join(copy, 'tsconfig.json'), JSON.stringify(settings))
    const checking = promisify(execFile)(process.execPath, [compiler, '-p', join(copy, 'tsconfig.json')])
    expect(await checking.catch((failure: { stdout: string }) => failure)).toMatchObject({ stdout: '' })
  })
})
