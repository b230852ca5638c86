#include "app/desktop/details_panel.h"

#include <QUrl>

#include "viz/timeline/layout.h"

namespace planscope {
namespace {

QString html(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

}  // namespace

DetailsPanel::DetailsPanel(QWidget* parent) : QTextBrowser(parent) {
  setObjectName("details");
  setAccessibleName(tr("Selection"));
  setOpenLinks(false);
  document()->setDocumentMargin(12);
  connect(this, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
    if (on_line) on_line(url.toString().section(':', 1).toInt());
  });
  show_nothing();
}

void DetailsPanel::show_nothing() {
  setHtml(QString("<p style='color:%1'>%2</p>")
              .arg(colours(theme_).dim, tr("Nothing is selected. Click a block of the timeline or a module.")));
}

QString DetailsPanel::heading(const std::string& title, const std::string& subtitle) const {
  QString s = QString("<p style='font-size:13px;font-weight:600;margin-bottom:2px'>%1</p>").arg(html(title));
  if (!subtitle.empty())
    s += QString("<p style='color:%1;margin-top:0'>%2</p>").arg(colours(theme_).dim, html(subtitle));
  return s;
}

QString DetailsPanel::table(const Facts& facts) const {
  QString s = "<table cellspacing='0' cellpadding='3' width='100%'>";
  for (const auto& [name, value] : facts) {
    s += QString("<tr><td width='44%' style='color:%1'>%2</td><td>%3</td></tr>")
             .arg(colours(theme_).dim, html(name), html(value));
  }
  return s + "</table>";
}

void DetailsPanel::show_block(const SessionSnapshot& snapshot, const viz::BlockRef& ref) {
  const viz::TimelineModel& timeline = *snapshot.timeline;
  const viz::Block& block = timeline.at(ref);
  const viz::Lane& lane = timeline.lanes[ref.lane];
  const bool known = snapshot.instructions && block.instruction >= 0 &&
                     block.instruction < static_cast<int>(snapshot.instructions->size());
  const InstructionDetail* detail = known ? &(*snapshot.instructions)[block.instruction] : nullptr;

  Facts when{{"lane", lane.name + " · " + lane.streams[ref.stream].name}, {"kind", viz::name_of(block.kind)}};
  if (block.micro_batch >= 0) when.push_back({"micro-batch", std::to_string(block.micro_batch)});
  when.push_back({"start", viz::format_time(block.start)});
  when.push_back({"duration", viz::format_time(block.duration)});
  when.push_back({"end", viz::format_time(block.end())});
  if (!lane.memory.empty()) when.push_back({"memory at its end", viz::format_bytes(memory_at(lane, block.end()))});

  const std::string label = block.label.empty() ? viz::name_of(block.kind) : block.label;
  QString s = detail != nullptr ? heading(detail->title, detail->subtitle) : heading(label, "");
  s += table(when);
  if (detail != nullptr && !detail->facts.empty()) s += "<p></p>" + table(detail->facts);
  if (detail != nullptr && detail->plan_line > 0) {
    s += QString(
             "<p style='color:%1;margin-bottom:2px'>%2</p><p style='margin-top:0'><a style='color:%3' "
             "href='line:%4'>%5</a></p>")
             .arg(colours(theme_).dim, tr("decided by"), colours(theme_).accent)
             .arg(detail->plan_line)
             .arg(tr("line %1 of the plan").arg(detail->plan_line));
  }
  setHtml(s);
}

void DetailsPanel::show_module(const ModuleNode& node) { setHtml(heading(node.path, node.note) + table(node.facts)); }

}  // namespace planscope
