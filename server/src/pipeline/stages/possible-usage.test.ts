import { expect, test } from 'vitest'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { WireId } from '../../core/catalogue.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import { sampleModel } from '../../../test/management/sample-catalogue.ts'
import { wireOf } from '../kinds/wire.ts'
import { possibleUsage } from './charged-reading.ts'

const CONTEXT_TOKENS = 50_000
const OUTPUT_TOKENS = 1_000
/** What a vendor's own framing may add to what was sent. */
const FRAMING_TOKENS = 10_000
const BODY = { model: 'm', input: 'hi' }
const BODY_BYTES = JSON.stringify(BODY).length
const PICTURE = { model: 'm', input: [{ image: 'https://a.example/b.png' }] }

test.each<[string, WireId, body: object, told: [number, number], charged: [number, number]]>([
  ['what can be is left as it is', 'responses', BODY, [40_000, 900], [40_000, 900]],
  ['input beyond the context', 'responses', BODY, [60_000, 900], [CONTEXT_TOKENS, 900]],
  ['output beyond the maximum', 'responses', BODY, [10, 9_000], [10, OUTPUT_TOKENS]],
  [
    'an embedding reads what was sent, whatever its context',
    'embeddings',
    BODY,
    [40_000, 0],
    [BODY_BYTES + FRAMING_TOKENS, 0],
  ],
  ['and makes no tokens', 'embeddings', BODY, [10, 5], [10, 0]],
  ['but behind an address may be a whole context', 'embeddings', PICTURE, [40_000, 0], [40_000, 0]],
  ['and no more', 'embeddings', PICTURE, [60_000, 0], [CONTEXT_TOKENS, 0]],
])('%s (%s)', (_sentence, protocol, body, [input, output], [chargedInput, chargedOutput]) => {
  const scanner = createRequestScanner(wireOf(protocol).requests)
  scanner.push(Buffer.from(JSON.stringify(body)))
  const scan = scanner.end()
  if (scan.kind === 'refused') throw new Error(scan.message)
  const model = sampleModel('m', [], { contextTokens: CONTEXT_TOKENS, maxOutputTokens: OUTPUT_TOKENS })
  const { usage, suspect } = possibleUsage(
    { scan, endpoint: { protocol } as never },
    { leg: { model }, answerBytes: 100 },
    { ...NO_USAGE, input, output },
  )
  expect([usage.input, usage.output]).toEqual([chargedInput, chargedOutput])
  expect(suspect === undefined).toBe(input === chargedInput && output === chargedOutput)
})
