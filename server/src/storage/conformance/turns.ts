import { expect, test } from 'vitest'
import { CHAIN, KEY, MODEL } from '../../core/calls/examples.ts'
import type { StoredTurn } from '../stores/turns.ts'
import { NOW, OTHER_KEY, type StorageSuite } from './suite.ts'

const KEPT = { kind: 'kept', body: '{"input":["héllo \u0000 \ud83d\ude00"],"response":{}}' } as const
const PINNED = { kind: 'upstream', place: 'credential:1', chainId: CHAIN } as const
const WIDE = { bytesMax: 1_000_000, limit: 100 }

function exampleTurn(responseId: string, changes: Partial<StoredTurn> = {}): StoredTurn {
  return {
    keyId: KEY,
    responseId,
    previousId: undefined,
    modelId: MODEL,
    createdAt: NOW,
    expiresAt: NOW + 1_000,
    content: KEPT,
    ...changes,
  }
}

export function describeTurns(suite: StorageSuite): void {
  const open = async () => (await suite.createDatabase()).open()

  test('a turn comes back as it was put, to its own key only, until it expires', async () => {
    const { turns } = await open()
    const kept = exampleTurn('resp_1')
    const pinned = exampleTurn('resp_2', { previousId: 'resp_0', content: PINNED })
    await turns.put([])
    await turns.put([kept, pinned])
    expect(await turns.find(KEY, 'resp_1', NOW)).toEqual(kept)
    expect(await turns.find(KEY, 'resp_2', NOW)).toEqual(pinned)
    expect(await turns.find(OTHER_KEY, 'resp_1', NOW)).toBeUndefined()
    expect(await turns.find(KEY, 'resp_1', NOW + 999)).toEqual(kept)
    expect(await turns.find(KEY, 'resp_1', NOW + 1_000)).toBeUndefined()
  })

  test('the same response put again replaces the first, also within one batch', async () => {
    const { turns } = await open()
    await turns.put([exampleTurn('resp_1')])
    const [first, second] = [1, 2].map((step) => exampleTurn('resp_1', { createdAt: NOW + step }))
    if (first === undefined || second === undefined) throw new Error('two were made')
    await turns.put([first, second])
    expect(await turns.find(KEY, 'resp_1', NOW)).toEqual(second)
    await turns.put([{ ...second, content: PINNED }])
    expect(await turns.find(KEY, 'resp_1', NOW)).toEqual({ ...second, content: PINNED })
  })

  test('a long body comes back whole, whether it was put as text or as bytes in pieces', async () => {
    const { turns } = await open()
    const body = `{"input":"${'x\u754c\u{1f600}'.repeat(300_000)}"}`
    const bytes = Buffer.from(body)
    const pieces = [bytes.subarray(0, 13), bytes.subarray(13, 1_500_001), bytes.subarray(1_500_001)]
    const { content, ...turn } = exampleTurn('resp_1')
    await turns.put([
      { ...turn, content: { kind: 'kept', body: pieces } },
      exampleTurn('resp_2', { previousId: 'resp_1', content: { kind: 'kept', body } }),
      { ...turn, responseId: 'resp_3', content },
    ])
    for (const id of ['resp_1', 'resp_2']) {
      const found = await turns.find(KEY, id, NOW)
      expect(found?.content.kind === 'kept' && found.content.body === body).toBe(true)
    }
    expect(await turns.find(KEY, 'resp_3', NOW)).toEqual(exampleTurn('resp_3'))
    const links = await turns.lineage(KEY, 'resp_2', { at: NOW, limit: 5 })
    expect(links.map((link) => link.bytes)).toEqual([bytes.byteLength, bytes.byteLength])
    await turns.put([exampleTurn('resp_1')])
    expect(await turns.find(KEY, 'resp_1', NOW)).toEqual(exampleTurn('resp_1'))
  })

  test('what was said is not readable in the database', async () => {
    const database = await suite.createDatabase()
    const { turns } = await database.open()
    await turns.put([exampleTurn('resp_1', { content: { kind: 'kept', body: '{"input":"a secret plan"}' } })])
    const dump = await database.dump()
    expect(dump).toContain('resp_1')
    expect(dump).not.toContain('secret plan')
  })

  test('a conversation is found along its links, newest first, and ends where one is gone', async () => {
    const { turns } = await open()
    const ids = ['resp_1', 'resp_2', 'resp_3', 'resp_4']
    await turns.put(
      ids.map((id, index) =>
        exampleTurn(id, {
          previousId: ids[index - 1],
          content: { kind: 'kept', body: 'x'.repeat(index + 1) },
        }),
      ),
    )
    await turns.put([exampleTurn('resp_2', { keyId: OTHER_KEY })])
    const lineage = async (limit: number) => turns.lineage(KEY, 'resp_4', { at: NOW, limit })
    expect(await lineage(10)).toEqual([
      { responseId: 'resp_4', previousId: 'resp_3', place: undefined, bytes: 4 },
      { responseId: 'resp_3', previousId: 'resp_2', place: undefined, bytes: 3 },
      { responseId: 'resp_2', previousId: 'resp_1', place: undefined, bytes: 2 },
      { responseId: 'resp_1', previousId: undefined, place: undefined, bytes: 1 },
    ])
    expect(await lineage(2)).toHaveLength(2)
    expect(await turns.readBodies(KEY, ['resp_2', 'resp_3', 'resp_9'])).toEqual(
      new Map([
        ['resp_2', 'xx'],
        ['resp_3', 'xxx'],
      ]),
    )
    expect(await turns.remove(KEY, 'resp_2')).toBe(true)
    expect(await turns.remove(KEY, 'resp_2')).toBe(false)
    expect(await lineage(10)).toHaveLength(2)
    expect(await turns.lineage(OTHER_KEY, 'resp_4', { at: NOW, limit: 10 })).toEqual([])
  })

  test('a circle of links, which only a broken database holds, ends', async () => {
    const { turns } = await open()
    await turns.put([
      exampleTurn('resp_1', { previousId: 'resp_2' }),
      exampleTurn('resp_2', { previousId: 'resp_1' }),
    ])
    expect(await turns.lineage(KEY, 'resp_1', { at: NOW, limit: 5 })).toHaveLength(5)
  })

  test('a life is extended, never shortened, and only of the named ones', async () => {
    const { turns } = await open()
    await turns.put(['resp_1', 'resp_2', 'resp_3'].map((id) => exampleTurn(id)))
    await turns.extend(KEY, ['resp_1', 'resp_2'], NOW + 5_000)
    await turns.extend(KEY, ['resp_2'], NOW + 2_000)
    await turns.extend(OTHER_KEY, ['resp_3'], NOW + 5_000)
    await turns.extend(KEY, [], NOW + 5_000)
    expect((await turns.find(KEY, 'resp_2', NOW))?.expiresAt).toBe(NOW + 5_000)
    expect(await turns.expire({ at: NOW + 1_000, ...WIDE })).toBe(1)
    expect(await turns.find(KEY, 'resp_1', NOW + 4_999)).toBeDefined()
    expect(await turns.find(KEY, 'resp_3', NOW)).toBeUndefined()
  })

  test('what expired goes, a bounded number at a time', async () => {
    const { turns } = await open()
    await turns.put(Array.from({ length: 7 }, (_, index) => exampleTurn(`resp_${index}`)))
    expect(await turns.expire({ at: NOW + 999, ...WIDE })).toBe(0)
    expect(await turns.expire({ at: NOW + 1_000, ...WIDE, limit: 5 })).toBe(5)
    expect(await turns.expire({ at: NOW + 1_000, ...WIDE, limit: 5 })).toBe(2)
    expect(await turns.expire({ at: NOW + 1_000, ...WIDE, limit: 5 })).toBe(0)
  })

  test('the oldest kept turns make room for the others; what upstreams keep takes none', async () => {
    const { turns } = await open()
    const body = 'x'.repeat(100)
    await turns.put(
      [1, 2, 3, 4].map((step) =>
        exampleTurn(`resp_${step}`, { expiresAt: NOW + step, content: { kind: 'kept', body } }),
      ),
    )
    await turns.put([exampleTurn('resp_pin', { expiresAt: NOW + 1, content: PINNED })])
    expect(await turns.expire({ at: NOW, bytesMax: 400, limit: 2 })).toBe(0)
    expect(await turns.expire({ at: NOW, bytesMax: 399, limit: 2 })).toBe(2)
    expect(await turns.find(KEY, 'resp_2', NOW)).toBeUndefined()
    expect(await turns.find(KEY, 'resp_3', NOW)).toBeDefined()
    expect(await turns.find(KEY, 'resp_pin', NOW)).toBeDefined()
  })
}
