import { Button } from '@mantine/core'
import { Sheet } from '../parts/forms/dialog.tsx'
import { Facts } from '../parts/lists/facts.tsx'
import table from '../parts/lists/table.module.css'
import { Icon } from '../parts/marks/icon.tsx'
import { LinkButton } from '../parts/page/link-button.tsx'
import { CopyIcon } from '../parts/snippets/copy-button.tsx'
import { FirstCall } from '../parts/snippets/first-call.tsx'
import { useFeatureWords } from '../parts/values/features.ts'
import { useFormat } from '../parts/values/format.ts'
import { Health, Missing, Steps } from './admission.tsx'
import styles from './models.module.css'
import { isBilled, OwnPrice, PRICES, PriceName } from './prices.tsx'
import type { Model } from './use-models.ts'
import { useTranslation } from '../texts/use-translation.ts'

interface ModelSheetProps {
  readonly of: Model
  readonly onClose: () => void
}

/** All details of a model: requirements, offers with prices, and snippets. */
export function ModelSheet({ of, onClose }: ModelSheetProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const features = useFeatureWords()
  const tokens = (count: number | null): string => (count === null ? '–' : format.number(count))
  return (
    <Sheet title={of.name} onClose={onClose}>
      <div className={styles.sheet}>
        <Facts
          rows={[
            [
              t('models.id'),
              <span key="id" className={styles.name}>
                <code>{of.model_id}</code>
                <CopyIcon value={of.model_id} label={t('models.copy', { model: of.model_id })} size="sm" />
              </span>,
            ],
            [t('models.health'), <Health key="health" of={of.health} />],
            [t('models.admission'), <Missing key="missing" of={of} />],
            [t('models.byPlan'), t(of.subscription_covered ? 'models.covered' : 'models.notCovered')],
            [t('models.feature'), features(of.features)],
            [t('models.context'), tokens(of.context_tokens)],
            [t('models.output'), tokens(of.max_output_tokens)],
          ]}
        />
        <Steps of={of} />
        <Offers of={of} />
        <div>
          <Button
            leftSection={<Icon name="play" size={14} />}
            renderRoot={(props) => <LinkButton {...props} to="/playground" search={{ model: of.model_id }} />}
          >
            {t('models.tryOut')}
          </Button>
        </div>
        <section>
          <h3>{t('overview.firstCall')}</h3>
          <FirstCall
            first="curl"
            baseUrl={window.location.origin}
            secret="sk-…"
            model={of.model_id}
            endpoints={of.offers.flatMap(({ endpoints }) => endpoints)}
          />
        </section>
      </div>
    </Sheet>
  )
}

function Offers({ of: { offers } }: { readonly of: Model }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [first] = offers
  if (first === undefined) return null
  return (
    <section>
      <h3>{t('models.yourPrices')}</h3>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{t('calls.listPrice')}</th>
            {offers.map((offer) => (
              <th key={`${offer.vendor_code} ${offer.rate_multiplier}`} className={table.number}>
                {offer.vendor_name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {PRICES.filter((price) => isBilled(first, price)).map((price) => (
            <tr key={price}>
              <td>
                <PriceName price={price} />
              </td>
              {offers.map((offer) => (
                <td key={`${offer.vendor_code} ${offer.rate_multiplier}`} className={table.number}>
                  <OwnPrice offer={offer} price={price} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.note}>
        {t('models.rates', {
          own: format.percent(first.user_rate / 100, 2),
          chain: format.number(first.rate_multiplier, 6),
        })}
      </p>
    </section>
  )
}
