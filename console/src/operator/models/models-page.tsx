import { Button, Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Suspense } from 'react'
import { exportGatewayFile } from '../../api/operator/models.ts'
import { save } from '../../parts/lists/download.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { late } from '../../parts/page/late.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { useAddress } from '../parts/use-address.ts'
import { ModelList } from './model-list.tsx'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

const ModelForm = late(async () => (await import('./model-form.tsx')).ModelForm)
const PresetList = late(async () => (await import('./preset-list.tsx')).PresetList)
const PriceChangeList = late(async () => (await import('./price-change-list.tsx')).PriceChangeList)
const PriceImport = late(async () => (await import('./price-import.tsx')).PriceImport)

const TABS = ['models', 'changes', 'presets'] as const
/** In the address in place of an id while a model is created or prices are imported. */
const NEW = '+new'
const IMPORT = '+import'

/** All models with admission, prices and margin. */
export function ModelsPage() {
  const { t } = useTranslation()
  const [{ open, tab }, change, sheet] = useAddress()
  const shown = choiceField(tab, TABS) ?? 'models'
  return (
    <>
      <PageHead title={t('operate.pages.models')} lead={t('catalogue.lead')}>
        <Segments
          aria-label={t('catalogue.shown')}
          value={shown}
          data={TABS.map((value) => ({ value, label: t(`catalogue.tabs.${value}`) }))}
          onChange={(value) =>
            change({ tab: value === 'models' ? undefined : value, open: undefined, find: undefined })
          }
        />
        <Files onImport={() => sheet.open(IMPORT)} />
        <Button leftSection={<Icon name="plus" />} onClick={() => sheet.open(NEW)}>
          {t('catalogue.add')}
        </Button>
      </PageHead>
      {shown === 'models' && <ModelList />}
      <Suspense>
        {shown === 'changes' && <PriceChangeList />}
        {shown === 'presets' && <PresetList />}
        {open === NEW && (
          <ModelForm
            of={undefined}
            onClose={sheet.close}
            onMade={(id) => change({ open: id, tab: undefined })}
          />
        )}
        {open === IMPORT && <PriceImport onClose={sheet.close} />}
      </Suspense>
    </>
  )
}

/** Import of prices, and export of the gateway file. */
function Files({ onImport }: { readonly onImport: () => void }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const saving = useMutation({
    mutationFn: async (format: 'yaml' | 'json') => save(await exportGatewayFile(format), `gateway.${format}`),
  })
  return (
    <>
      <FormProblem text={saving.error === null ? undefined : problemText(saving.error)} />
      <Menu width={240}>
        <Menu.Target>
          <Button variant="default" loading={saving.isPending} leftSection={<Icon name="export" />}>
            {t('catalogue.files')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="down" />} onClick={onImport}>
            {t('catalogue.import')}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>{t('catalogue.gatewayFile')}</Menu.Label>
          <Menu.Item onClick={() => saving.mutate('yaml')}>{t('catalogue.yaml')}</Menu.Item>
          <Menu.Item onClick={() => saving.mutate('json')}>{t('catalogue.json')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
