import type { Config } from './config/environment.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { Identity } from './management/identity/identity.ts'
import { openMessenger } from './notify/open-messenger.ts'

/** Who is at the other end, with the ways out that are configured. Its messenger is closed by whoever opened it. */
export async function openIdentity(config: Config, gateway: Gateway): Promise<Identity> {
  const { storage, telemetry, upstream, now } = gateway
  const { background, log } = telemetry
  const messenger = await openMessenger({ ...config, upstream, log, now })
  return { storage, messenger, background, log, phoneRegion: config.phoneRegion, now }
}
