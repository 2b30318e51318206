import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import table from '../parts/lists/table.module.css'
import page from '../parts/page/page.module.css'
import { useFormat } from '../parts/values/format.ts'
import { Health, Missing } from './admission.tsx'
import styles from './models.module.css'
import { isBilled, OwnPrice, PRICES, PriceName } from './prices.tsx'
import type { Model } from './use-models.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface ComparisonProps {
  readonly models: readonly Model[]
  readonly onClear: () => void
}

/** Compares models side by side. */
export function Comparison({ models, onClear }: ComparisonProps) {
  const { t } = useTranslation()
  const rows = useRows(models)
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('models.comparison')}</h2>
        <Button variant="default" size="xs" onClick={onClear}>
          {t('models.clear')}
        </Button>
      </div>
      <div className={styles.scroll}>
        <table className={table.table} aria-label={t('models.comparison')}>
          <thead>
            <tr>
              <th>{t('calls.model')}</th>
              {models.map(({ model_id, name }) => (
                <th key={model_id}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, name, cell }) => (
              <tr key={id}>
                <td className={table.muted}>{name}</td>
                {models.map((model) => (
                  <td key={model.model_id}>{cell(model)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

interface Row {
  readonly id: string
  readonly name: ReactNode
  readonly cell: (model: Model) => ReactNode
}

function useRows(models: readonly Model[]): readonly Row[] {
  const { t } = useTranslation()
  const format = useFormat()
  const tokens = (count: number | null): string => (count === null ? '–' : format.number(count))
  const billed = PRICES.filter((price) =>
    models.some(({ offers: [offer] }) => offer !== undefined && isBilled(offer, price)),
  )
  return [
    { id: 'health', name: t('models.health'), cell: ({ health }) => <Health of={health} /> },
    { id: 'admission', name: t('models.admission'), cell: (model) => <Missing of={model} /> },
    { id: 'context', name: t('models.context'), cell: ({ context_tokens: count }) => tokens(count) },
    { id: 'output', name: t('models.output'), cell: ({ max_output_tokens: count }) => tokens(count) },
    ...billed.map((price) => ({
      id: price,
      name: <PriceName price={price} />,
      cell: ({ offers: [offer] }: Model) =>
        offer !== undefined && isBilled(offer, price) ? <OwnPrice offer={offer} price={price} /> : '–',
    })),
  ]
}
