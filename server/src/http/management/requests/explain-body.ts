/** A call that is asked about and not made. */
import { z } from 'zod'
import { WIRE_IDS } from '../../../core/catalogue.ts'
import { wireOf } from '../../../pipeline/kinds/wire.ts'

export const explainBody = z.strictObject({
  protocol: z.enum(WIRE_IDS).default('chat').meta({ description: 'The protocol of `body`.' }),
  body: z.record(z.string(), z.unknown()).meta({ description: 'The body the call would have.' }),
  key_id: z.string().optional().meta({
    description: 'The API key that would call; needed with a session, with an API key it is itself.',
  }),
  address: z.enum(['base', 'gateway']).default('base'),
  model: z.string().optional().meta({ description: 'Gemini only, which names it in the path.' }),
  stream: z.boolean().optional().meta({ description: 'Gemini only, which says it in the path.' }),
})

/** What is asked of the pipeline, beside who calls. */
export function questionOf({ protocol, body, address, model, stream }: z.output<typeof explainBody>) {
  const inPath = wireOf(protocol).requests.modelPlace === 'path'
  return {
    address,
    ip: undefined,
    protocol,
    pathModel: inPath ? model : undefined,
    stream: inPath ? (stream ?? false) : undefined,
    body: Buffer.from(JSON.stringify(body)),
  }
}
