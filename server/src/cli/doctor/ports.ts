import { lookAtPort } from '../../app/look-at-ports.ts'
import type { Config } from '../../config/environment.ts'
import { failed, type Finding, ok, skipped, warning } from '../../core/finding.ts'
import { askRunning } from '../ask-running.ts'

/** A port in use is fine while this environment's gateway is running, and a failure otherwise. */
export async function checkPorts(config: Config): Promise<readonly Finding[]> {
  const answer = await askRunning(config, '/readyz')
  if (answer !== undefined) {
    const { status, body } = answer
    const told = typeof body['status'] === 'string' ? body['status'] : String(status)
    return [
      status === 200
        ? ok('gateway', `runs, ${told}`)
        : warning('gateway', `runs, ${told}`, 'its log says why; it takes no calls meanwhile'),
    ]
  }
  const { host, opsHost } = config
  const places = [
    { host, name: 'SLUICE_PORT', port: config.port },
    { host, name: 'SLUICE_GATEWAY_PORT', port: config.gatewayPort },
    { host: opsHost, name: 'SLUICE_OPS_PORT', port: config.opsPort },
  ]
  const findings: Finding[] = [skipped('gateway', 'not running here')]
  for (const place of places) findings.push(await checkPort(place))
  return findings
}

async function checkPort({
  host,
  name,
  port,
}: {
  readonly host: string | undefined
  readonly name: string
  readonly port: number
}): Promise<Finding> {
  const check = `port ${port}`
  if (port === 0) return ok(name, 'any free one')
  const code = await listenOnce(host, port)
  switch (code) {
    case undefined:
      return ok(check, 'free')
    case 'EADDRINUSE':
      return failed(check, 'another program listens there', `stop it, or set ${name} to another port`)
    case 'EACCES':
      return failed(
        check,
        'this user may not listen there',
        `set ${name} to a port above 1023, with a proxy before it`,
      )
    case 'EADDRNOTAVAIL':
      return failed(
        check,
        `this machine has no address ${host ?? ''}`,
        'set SLUICE_HOST to one it has, or unset it',
      )
    default:
      return failed(check, `cannot be listened on (${code})`, `set ${name} to another port`)
  }
}

/** undefined: it succeeded; otherwise the system's error code. */
function listenOnce(host: string | undefined, port: number): Promise<string | undefined> {
  return lookAtPort(port, host).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )
}
