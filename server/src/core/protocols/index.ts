/** The registry of wire languages: one line each. */
import { type ChainProtocol, isProtocolId, type ProtocolId } from '../catalogue.ts'
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

/** The codec of a converted protocol; calling it for a form that is only passed on is a broken invariant. */
export function codecOf(id: ChainProtocol): Protocol {
  if (isProtocolId(id)) return PROTOCOLS[id]
  throw new Error(`${id} is passed on and never converted`)
}

/** Only chains of such a protocol have answers kept at their account. */
export function keepsAnswers(protocol: ChainProtocol): boolean {
  return isProtocolId(protocol) && PROTOCOLS[protocol].keepsAnswers
}
