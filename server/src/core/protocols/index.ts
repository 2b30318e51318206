/** The registry of wire languages: one line each. */
import type { ChainProtocol, ProtocolId } from '../catalogue.ts'
import { chatProtocol } from './chat/index.ts'
import { geminiProtocol } from './gemini/index.ts'
import { messagesProtocol } from './messages/index.ts'
import type { Protocol } from './protocol.ts'
import { responsesProtocol } from './responses/index.ts'

const PROTOCOLS: Readonly<Record<ProtocolId, Protocol>> = {
  chat: chatProtocol,
  responses: responsesProtocol,
  messages: messagesProtocol,
  gemini: geminiProtocol,
}

export function protocolOf(id: ProtocolId): Protocol {
  return PROTOCOLS[id]
}

/** Only chains of such a protocol know what is kept at their account. */
export function keepsAnswers(protocol: ChainProtocol): boolean {
  return protocol !== 'video' && PROTOCOLS[protocol].keepsAnswers
}
