/** The registry of wire languages: one line each. */
import type { ProtocolId } from '../catalogue.ts'
import { geminiProtocol } from './gemini/index.ts'
import { messagesProtocol } from './messages/index.ts'
import type { Protocol } from './protocol.ts'

const PROTOCOLS: Readonly<Partial<Record<ProtocolId, Protocol>>> = {
  messages: messagesProtocol,
  gemini: geminiProtocol,
}

/** undefined: the language is passed through but not yet converted. */
export function protocolOf(id: ProtocolId): Protocol | undefined {
  return PROTOCOLS[id]
}
