import { Button, Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Icon } from '../marks/icon.tsx'
import { FormProblem } from '../page/problem.tsx'
import { useProblemText } from '../page/use-problem.ts'
import { save } from './download.ts'
import { useTranslation } from '../../texts/use-translation.ts'

type ExportFormat = 'csv' | 'ndjson'

interface ExportMenuProps {
  /** Requests the export; resolves to the file. */
  readonly read: (format: ExportFormat) => Promise<Blob>
  /** The name of the file, without its extension. */
  readonly name: string
}

/** Exports the list as a file, for spreadsheets or for programs. */
export function ExportMenu({ read, name }: ExportMenuProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const saving = useMutation({
    mutationFn: async (format: ExportFormat) => save(await read(format), `${name}.${format}`),
  })
  return (
    <>
      <FormProblem text={saving.error === null ? undefined : problemText(saving.error)} />
      <Menu width={200}>
        <Menu.Target>
          <Button variant="default" loading={saving.isPending} leftSection={<Icon name="export" />}>
            {t('export.title')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => saving.mutate('csv')}>{t('export.csv')}</Menu.Item>
          <Menu.Item onClick={() => saving.mutate('ndjson')}>{t('export.json')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
