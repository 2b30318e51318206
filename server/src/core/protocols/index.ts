/** The registry of wire languages: one line each. */
import type { ProtocolId } from '../catalogue.ts'
import { messagesProtocol } from './messages/index.ts'
import type { Protocol } from './protocol.ts'

const PROTOCOLS: Readonly<Partial<Record<ProtocolId, Protocol>>> = { messages: messagesProtocol }

/** undefined: the language is passed through but not yet converted. */
export function protocolOf(id: ProtocolId): Protocol | undefined {
  return PROTOCOLS[id]
}
