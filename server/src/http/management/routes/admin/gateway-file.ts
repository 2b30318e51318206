/** What is stored, as the file it can be applied from. */
import { z } from 'zod'
import { exportGatewayFile } from '../../../../management/gateway-file/export-gateway-file.ts'
import { defineRawRoute, type RouteContext } from '../../define-route.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type GatewayFileContext = RouteContext & Pick<ApiContext, 'now' | 'storage'>

const TYPES = { yaml: 'application/yaml', json: 'application/json' } as const
const FORMATS = ['yaml', 'json'] as const

export function adminGatewayFileRoutes(app: Api, context: GatewayFileContext): void {
  const { storage, now } = context
  defineRawRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/gateway-file',
    access: 'admin',
    tag: 'Admin: catalogue',
    summary: 'Export what is stored as a gateway file',
    description:
      'What `sluice export` writes: settings, catalogue and accounts, without secrets. Applying it where it came from ' +
      'changes nothing.',
    query: z.strictObject({ format: z.enum(FORMATS).default('yaml') }),
    answer: { contentType: TYPES.yaml, otherTypes: [TYPES.json], schema: z.string() },
    handle: async ({ query: { format }, request, reply }) => {
      reply.type(TYPES[format])
      reply.header('content-disposition', `attachment; filename="gateway.${format}"`)
      // The head of a file says nothing of its rows, so none is read.
      return request.method === 'HEAD' ? '' : exportGatewayFile(storage, { format, at: now() })
    },
  })
}
