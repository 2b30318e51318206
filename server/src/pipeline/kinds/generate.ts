import { PROTOCOL_IDS, type ProtocolId } from '../../core/catalogue.ts'
import { callAndImages, estimateOf } from '../stages/estimate.ts'
import type { EndpointKind, EndpointPath } from './kind.ts'

/** Text generation, in four protocols that are converted into each other. */
export const GENERATE: EndpointKind = {
  id: 'generate',
  flow: 'exchange',
  chains: PROTOCOL_IDS,
  paths: [
    post('/v1/chat/completions', 'chat'),
    post('/v1/responses', 'responses'),
    post('/v1/messages', 'messages'),
    {
      ...post('/v1beta/models/{model}:generateContent', 'gemini'),
      stream: false,
      sseOnDemand: true,
    },
    {
      ...post('/v1beta/models/{model}:streamGenerateContent', 'gemini'),
      stream: true,
      sseOnDemand: true,
    },
  ],
  estimate: estimateOf,
  counts: callAndImages,
}

function post(path: string, protocol: ProtocolId): EndpointPath {
  return { methods: ['POST'], path, protocol }
}
