import { bench, describe } from 'vitest'
import { PROTOCOL_IDS } from '../../src/core/catalogue.ts'
import { createMeter } from '../../src/core/metering/meter.ts'
import { createRequestScanner } from '../../src/core/passthrough/requests/request-scan.ts'
import { createStreamTap } from '../../src/core/passthrough/stream-tap.ts'
import { framed, SAMPLE_STREAMS } from './sample-answers.ts'

const PIECE_BYTES = 65_536

/** As a socket gives it: Node's own buffers, 64 KiB at a time. */
function pieces(text: string): Uint8Array[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, index) =>
    bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  )
}

const request = (rest: object): Uint8Array[] => pieces(JSON.stringify({ model: 'm', stream: true, ...rest }))
const prose = 'The quick brown fox, "quoted" and\nbroken, jumps over the café. '.repeat(50)
const tool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', enum: ['a', 'b'] } },
      required: ['city'],
    },
  },
}

describe('a request of 10 MB', () => {
  const bodies = {
    base64: request({ image: 'A'.repeat(1e7) }),
    prose: request({ messages: Array.from({ length: 3_000 }, () => ({ role: 'user', content: prose })) }),
    schemas: request({ tools: Array.from({ length: 60_000 }, () => tool) }),
    numbers: request({ list: Array.from({ length: 1_000_000 }, (_, index) => [index, 0.5]) }),
  }
  for (const [name, body] of Object.entries(bodies)) {
    bench(name, () => {
      const scanner = createRequestScanner('chat')
      for (const piece of body) scanner.push(piece)
      scanner.end()
    })
  }
})

describe('a thousand events, each in a piece of its own', () => {
  for (const protocol of PROTOCOL_IDS) {
    const event = SAMPLE_STREAMS[protocol].events.at(protocol === 'chat' ? 1 : protocol === 'gemini' ? 0 : 3)
    const piece = Buffer.from(framed(protocol, event === undefined ? [] : [event]))
    bench(protocol, () => {
      const tap = createStreamTap(protocol, {
        replacementModel: 'platform-model',
        removeUsageChunk: false,
        meter: createMeter({ countTokens: () => 1, countInput: () => 1, inputTokensEstimate: 1 }),
        decodeError: (raw) => ({ status: undefined, type: undefined, code: undefined, message: '', raw }),
      })
      for (let count = 0; count < 1_000; count++) tap.push(piece)
    })
  }
})
