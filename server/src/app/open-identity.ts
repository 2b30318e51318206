import type { Config } from '../config/environment.ts'
import type { Pipeline } from '../pipeline/context.ts'
import type { Identity } from '../management/identity/identity.ts'
import { type MakeServiceFetch, openServices } from '../management/identity/services/index.ts'
import { openMessenger } from '../notify/open-messenger.ts'
import type { SecurityLog } from '../telemetry/security-log.ts'
import { createFindProxy } from '../upstream/connect/find-proxy.ts'
import { AllowList } from '../upstream/connect/guard.ts'
import { ClosedNetwork, createSmallFetch } from '../upstream/remote/small-fetch.ts'

/** Opens identity with the configured message channels. The caller closes its messenger. */
export async function openIdentity(
  config: Config,
  parts: Pick<Pipeline, 'storage' | 'telemetry' | 'upstream' | 'now'>,
): Promise<Identity> {
  const { storage, telemetry, upstream, now } = parts
  const { background, log } = telemetry
  return {
    storage,
    messenger: await openMessenger({ ...config, upstream, log, now }),
    services: openServices(
      config.signInServices,
      serviceFetch(new AllowList(config.fetchAllow, createFindProxy(config)), telemetry.security),
    ),
    background,
    log,
    security: telemetry.security,
    registration: config.registration,
    adminsNeedFactor: config.adminSecondFactor === 'required',
    textMessages: {
      dayLimit: config.smsDayLimit,
      monthLimit: config.smsMonthLimit,
      countries: config.smsCountries,
      refused: config.smsRefused,
    },
    phoneRegion: config.phoneRegion,
    now,
  }
}

function serviceFetch(allow: AllowList, security: SecurityLog): MakeServiceFetch {
  return (trusted) => {
    const fetchSmall = createSmallFetch({ trusted, allow })
    return async (url, request) => {
      const { status, headers, body } = await fetchSmall({ url, ...request }).catch((error: unknown) => {
        if (error instanceof ClosedNetwork) security.note('address.refused', { of: 'a sign-in service' })
        throw error
      })
      return new Response(body.length === 0 ? null : Uint8Array.from(body), {
        status,
        headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      })
    }
  }
}
