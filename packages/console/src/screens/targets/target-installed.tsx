import { shellQuoted } from '../../components/commands.ts'
import { Empty } from '../../components/page.tsx'
import { Section } from '../../components/section.tsx'
import { InstalledList } from '../releases/installed-list.tsx'

/** The version of each source that is in force on the target. */
export function TargetInstalled({ id, name }: { id: string; name: string }) {
  return (
    <Section title="What is installed">
      <InstalledList
        filter={{ target_id: id }}
        of="target"
        check={{ target_ids: [id] }}
        command={`slipway on ${shellQuoted(name)}`}
        empty={<Empty title="Nothing is installed yet">Deploy to it with the button above.</Empty>}
      />
    </Section>
  )
}
