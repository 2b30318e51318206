import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../parts/format.ts'
import page from '../parts/page.module.css'
import table from '../parts/table.module.css'
import { Health, Missing } from './admission.tsx'
import styles from './models.module.css'
import { isBilled, OwnPrice, PRICES } from './prices.tsx'
import type { Model } from './use-models.ts'

interface ComparisonProps {
  readonly models: readonly Model[]
  readonly onClear: () => void
}

/** Some models side by side. */
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
            {rows.map(([name, cell]) => (
              <tr key={name}>
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

function useRows(models: readonly Model[]): readonly (readonly [string, (model: Model) => ReactNode])[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    [t('models.health'), ({ health }) => <Health of={health} />],
    [t('models.admission'), (model) => <Missing of={model} />],
    [t('models.context'), ({ context_tokens: count }) => (count === null ? '–' : format.number(count))],
    [t('models.output'), ({ max_output_tokens: count }) => (count === null ? '–' : format.number(count))],
    ...PRICES.filter((price) =>
      models.some(({ offers: [offer] }) => offer !== undefined && isBilled(offer, price)),
    ).map(
      (price) =>
        [
          t(`models.prices.${price}`),
          ({ offers: [offer] }: Model) =>
            offer !== undefined && isBilled(offer, price) ? <OwnPrice offer={offer} price={price} /> : '–',
        ] as const,
    ),
  ]
}
