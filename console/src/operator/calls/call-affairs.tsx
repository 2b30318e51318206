import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { anyAccountQuery } from '../../api/operator/accounts.ts'
import sheet from '../../parts/forms/sheet.module.css'
import type { LoggedCall } from '../../parts/calls/log-source.ts'
import { type Fact, Facts } from '../../parts/lists/facts.tsx'
import page from '../../parts/page/page.module.css'
import { useFormat } from '../../parts/values/format.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface CalledWithProps {
  readonly account: string | null | undefined
  readonly id: string
}

/** The key; if the account is known, a link to all calls with the key. */
function CalledWith({ account, id }: CalledWithProps) {
  const { data } = useQuery({ ...anyAccountQuery(account ?? ''), enabled: typeof account === 'string' })
  if (account === null || account === undefined) return <code>{id}</code>
  return (
    <Link
      to="/operate/calls"
      search={{ account, key_id: id, period: 'all' }}
      className={page.link}
      title={id}
    >
      {data?.keys.find((key) => key.id === id)?.name ?? <code>{id}</code>}
    </Link>
  )
}

/** Details for operators: the account, the chains, and anything wrong with the vendor's usage. */
export function CallAffairs({ of }: { readonly of: LoggedCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { account_id: account, account_name: name, usage_suspect: suspect, key_id: key } = of
  const model = of.model ?? of.model_requested
  const rows: readonly Fact[] = [
    [
      t('operate.account'),
      account === null || account === undefined ? (
        '–'
      ) : (
        <Link key="account" to="/operate/accounts" search={{ open: account }} className={page.link}>
          {name ?? account}
        </Link>
      ),
    ],
    ...(key === null ? [] : [[t('calls.key'), <CalledWith key="key" account={account} id={key} />] as const]),
    ...(model === null
      ? []
      : [
          [
            t('operate.chainsOf'),
            <Link key="chains" to="/operate/chains" search={{ model }} className={page.link}>
              {model}
            </Link>,
          ] as const,
        ]),
    ...(suspect === null
      ? []
      : [
          [
            t('operate.reported'),
            t('operate.reportedTokens', {
              input: format.number(suspect.input_reported),
              inputCharged: format.number(suspect.input_charged),
              output: format.number(suspect.output_reported),
              outputCharged: format.number(suspect.output_charged),
            }),
          ] as const,
        ]),
  ]
  return (
    <section className={sheet.part}>
      <h3>{t('operate.affairs')}</h3>
      <Facts rows={rows} />
    </section>
  )
}
