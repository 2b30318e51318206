import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AuthenticatedCall, OnChunk } from '../call.ts'
import { createBodyBudget } from '../instance/body-budget.ts'
import { type BodyFile, createBodyFiles } from '../instance/body-files.ts'
import { TRANSCRIPTION } from '../kinds/transcription.ts'
import { type ReceiveParts, receive } from './receive.ts'

const BEGIN =
  '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nlistener\r\n' +
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'

test('a client that goes while its upload is given a file leaves no file and no bytes behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'receive-'))
  try {
    const closings: Promise<unknown>[] = []
    const opened: BodyFile[] = []
    const background = { track: (work: Promise<unknown>) => closings.push(work), drain: async () => 0 }
    const files = createBodyFiles(folder, { background, log: { error: () => undefined } })
    const bodyBudget = createBodyBudget(8_000_000)
    const parts = {
      bodyBudget,
      bodyFiles: {
        async open() {
          const file = await files.open()
          opened.push(file)
          return file
        },
      },
      limits: { bodyLimitBytes: 4_000_000 },
    } as unknown as ReceiveParts
    const spills: Promise<void>[] = []
    const call = {
      endpoint: { kind: TRANSCRIPTION, path: '/v1/audio/transcriptions', protocol: 'transcription' },
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      contentLength: undefined,
      readBody: async (onChunk: OnChunk) => {
        const busy = onChunk(Buffer.concat([Buffer.from(BEGIN), Buffer.alloc(2_000_000)]))
        if (busy !== undefined) spills.push(busy)
        throw new Error('the client has gone')
      },
    } as unknown as AuthenticatedCall
    await expect(receive(parts, call)).rejects.toThrow('the client has gone')
    await Promise.all(spills)
    await Promise.all(closings)
    expect(opened.map(({ descriptor }) => descriptor)).toEqual([-1])
    expect(bodyBudget.used).toBe(0)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.each<[string, code: string, where: 'open' | 'write']>([
  ['before a file is opened', 'ENOSPC', 'open'],
  ['in the middle of an upload', 'ENOSPC', 'write'],
  ['by the quota of its owner', 'EDQUOT', 'write'],
])('a disk that is full %s refuses the upload for now, and keeps nothing', async (_what, code, where) => {
  const folder = await mkdtemp(join(tmpdir(), 'receive-'))
  try {
    const closings: Promise<unknown>[] = []
    const logged: string[] = []
    const full = () => Promise.reject(Object.assign(new Error('no space left on device'), { code }))
    const bodyFiles = createBodyFiles(
      folder,
      {
        background: { track: (work) => closings.push(work), drain: async () => 0 },
        log: { error: (_fields, message) => logged.push(message) },
      },
      async (...how) => {
        if (where === 'open') return full()
        return Object.assign(await open(...how), { write: full })
      },
    )
    const bodyBudget = createBodyBudget(8_000_000)
    const parts = { bodyBudget, bodyFiles, limits: { bodyLimitBytes: 4_000_000 } } as unknown as ReceiveParts
    const call = {
      endpoint: { kind: TRANSCRIPTION, path: '/v1/audio/transcriptions', protocol: 'transcription' },
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      contentLength: undefined,
      readBody: async (onChunk: OnChunk) =>
        onChunk(Buffer.concat([Buffer.from(BEGIN), Buffer.alloc(2_000_000)])),
    } as unknown as AuthenticatedCall
    await expect(receive(parts, call)).rejects.toMatchObject({
      code: 50301,
      status: 503,
      retryAfterMs: 10_000,
    })
    await Promise.all(closings)
    expect([bodyBudget.used, closings.length]).toEqual([0, where === 'open' ? 0 : 1])
    expect(await readdir(join(folder, 'bodies'))).toEqual([])
    expect(logged).toEqual(['the disk is full: a large upload is refused'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
