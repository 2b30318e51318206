import { mkdtemp, rm } from 'node:fs/promises'
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
    const files = createBodyFiles(folder, { background })
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
