import { PROTOCOL_IDS } from '../../core/catalogue.ts'
import type { EndpointKind } from './kind.ts'

/** How many tokens a request has. */
export const COUNT: EndpointKind = {
  id: 'count',
  flow: 'count',
  chains: PROTOCOL_IDS,
  paths: [
    { methods: ['POST'], path: '/v1/responses/input_tokens', protocol: 'responses' },
    { methods: ['POST'], path: '/v1/messages/count_tokens', protocol: 'messages' },
    {
      methods: ['POST'],
      path: '/v1beta/models/{model}:countTokens',
      protocol: 'gemini',
      stream: false,
      sseOnDemand: true,
    },
  ],
}
