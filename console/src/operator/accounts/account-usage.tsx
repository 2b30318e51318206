import { useQuery } from '@tanstack/react-query'
import { type UsageOf, usageOfQuery } from '../../api/operator/accounts.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { Amount } from '../../parts/values/amount.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Usage of an account over thirty days by model, the most expensive first. */
export function AccountUsage({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const columns = useColumns()
  const usage = useQuery(usageOfQuery(id))
  return (
    <section className={sheet.part}>
      <h3>{t('accounts.usage')}</h3>
      <Loaded query={usage} height={80}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p className={sheet.note}>{t('accounts.noUsage')}</p>
          ) : (
            <DataTable
              label={t('accounts.usage')}
              rows={rows.toSorted((one, other) => Number(other.amount) - Number(one.amount))}
              idOf={({ model }) => model ?? ''}
              columns={columns}
            />
          )
        }
      </Loaded>
    </section>
  )
}

function useColumns(): readonly Column<UsageOf>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    { id: 'model', head: t('calls.model'), cell: ({ model }) => model ?? '–' },
    { id: 'calls', head: t('pages.calls'), kind: 'number', cell: ({ calls }) => format.number(calls) },
    {
      id: 'failed',
      head: t('accounts.failed'),
      kind: 'number',
      wide: true,
      cell: ({ failed }) => format.number(failed),
    },
    {
      id: 'tokens',
      head: t('calls.tokens'),
      kind: 'number',
      wide: true,
      cell: ({ usage }) => format.number(usage.input + usage.output),
    },
    { id: 'amount', head: 'Credits', kind: 'number', cell: ({ amount }) => <Amount value={amount} /> },
  ]
}
