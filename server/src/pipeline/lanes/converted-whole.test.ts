import { describe, expect, test } from 'vitest'
import { createMeter } from '../../core/metering/meter.ts'
import { modelId } from '../../core/ids.ts'
import { protocolOf } from '../../core/protocols/index.ts'
import { ConvertedWhole } from './converted-whole.ts'
import type { Conversion } from './conversion.ts'
import { plainRequest } from '../../core/canonical/plain-request.ts'

const PIECE = 1024 * 1024

/** An answer of `megabytes` that came before the client left; its usage stands at its end. */
function left(megabytes: number) {
  const turns: (() => void)[] = []
  const meter = createMeter({ countTokens: () => 1, countInput: () => 7, inputTokensEstimate: 7 })
  const conversion: Conversion = {
    client: protocolOf('messages'),
    upstream: protocolOf('chat'),
    meter,
    cutAt: [],
    keeps: false,
    far: () => Promise.reject(new Error('nobody waits for it')),
    turn: () => undefined,
    nextTurn: (go) => turns.push(go),
    context: {
      model: modelId('m'),
      responseId: 'r',
      createdAt: 0,
      request: plainRequest('hi'),
      inputTokensEstimate: 7,
      issuer: 'i',
    },
  }
  const answer = new ConvertedWhole(conversion)
  const bytes = Buffer.from(
    JSON.stringify({
      choices: [{ message: { content: 'x'.repeat(megabytes * PIECE) } }],
      usage: { prompt_tokens: 3, completion_tokens: 5 },
    }),
  )
  for (let at = 0; at < bytes.length; at += PIECE) answer.push(bytes.subarray(at, at + PIECE))
  answer.forget()
  return { answer, turns }
}

describe('a large answer whose client has left', () => {
  test('is read for its usage a few megabytes at a time', () => {
    const { answer, turns } = left(20)
    let count = 0
    for (let go = turns.pop(); go !== undefined; go = turns.pop()) {
      go()
      count += 1
    }
    expect(count).toBe(5)
    expect(answer.meter.glance().usage).toMatchObject({ input: 3, output: 5 })
  })

  test('is read to what has come when it ends sooner', () => {
    expect(left(20).answer.meter.read().usage).toMatchObject({ input: 3, output: 5 })
    const { answer } = left(20)
    expect(answer.end().failure).toBeUndefined()
    expect(answer.meter.glance().usage).toMatchObject({ input: 3, output: 5 })
  })

  test('goes on being read in order while more of it comes', () => {
    const { answer, turns } = left(9)
    answer.push(Buffer.from('   '))
    for (let go = turns.pop(); go !== undefined; go = turns.pop()) go()
    answer.push(Buffer.from('\n'))
    expect(answer.end().failure).toBeUndefined()
    expect(answer.meter.read().usage).toMatchObject({ input: 3, output: 5 })
  })
})
