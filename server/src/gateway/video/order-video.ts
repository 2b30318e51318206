import { orderChains } from '../../core/routing/order.ts'
import type { Gateway } from '../gateway.ts'
import { healthFor } from '../route.ts'
import type { Ordering } from './creation.ts'
import { openInputCache } from './prepare-inputs.ts'
import { sendOrder } from './send-order.ts'
import type { ReservedVideo } from './video-call.ts'

/** How a video is ordered: over chains that speak video, its images prepared once for all of them. */
export function videoOrdering(gateway: Gateway, order: ReservedVideo): Ordering {
  const inputs = openInputCache()
  return {
    pinned: order.pinned !== undefined,
    send: ({ open, leg }) => sendOrder(gateway, { order, open, leg, inputs }),
    chainsOf: ({ model, funding }) =>
      orderChains(model, order.catalogue, {
        now: gateway.now(),
        healthOf: healthFor(gateway, funding),
        draw: gateway.draw,
        mayUse: (vendor) => funding.otherwise !== 'none' || funding.byokVendors.includes(vendor),
        speaks: (protocol) => protocol === 'video',
        preferred: 'video',
        pinned: order.pinned,
      }),
  }
}
