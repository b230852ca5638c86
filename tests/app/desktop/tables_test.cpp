// Tables and trees of panels: names are whole, rows are copied, sorted, filtered and activated, and keep their
// selection.
#include <QHeaderView>
#include <QLineEdit>
#include <QTest>
#include <catch2/catch.hpp>

#include "tests/app/desktop/window_fixture.h"

using namespace planscope;

TEST_CASE_METHOD(WindowFixture, "names of modules are not cut, and every text has a tooltip") {
  run("open model=" + llama);
  TableView& modules = table("modules");
  QTreeView& view = *modules.view();
  const QModelIndex first = view.model()->index(0, 0);
  CHECK(view.columnWidth(0) > 100);
  CHECK(first.data().toString() == "model");
  CHECK(view.isExpanded(first));
  CHECK(first.data(Qt::ToolTipRole).toString() == "model");
  run("open model=" + gpt2);
  CHECK(view.model()->index(0, 0).data().toString() == "transformer");
  CHECK(view.isExpanded(view.model()->index(0, 0)));  // as the first model's tree was
}

TEST_CASE_METHOD(WindowFixture, "what lies beyond the edge of a tree makes no row of it higher") {
  run("open model=" + llama);
  run("text \"devices 4 as pipe=4\\naxis mb=2\\nlet S = cut model.layers[*] into 4\\ntrans * batch by mb\\nassign S[i] to pipe=i\\n\"");
  run("wait");
  TableView& modules = table("modules");
  QTreeView& view = *modules.view();
  QAbstractItemModel& rows = *view.model();
  const QModelIndex layers = rows.index(0, 0);
  REQUIRE(layers.data().toString() == "model");
  const int line = view.fontMetrics().lineSpacing();
  const auto place = [&](int width) {  // of all columns but the first, beyond that
    view.header()->resizeSection(0, width);
    QCoreApplication::processEvents();
    return view.visualRect(layers).height();
  };
  bool wraps = false;  // in some column, if it were in sight
  for (int c = 1; c < rows.columnCount(); ++c)
    wraps = wraps || view.fontMetrics().horizontalAdvance(rows.index(0, c).data().toString()) > view.columnWidth(c);
  CHECK(wraps);
  CHECK(place(view.viewport()->width() + 1) < 2 * line);
}

TEST_CASE_METHOD(WindowFixture, "the modules of a second model are open as those of the first") {
  run("open model=" + gpt2);
  TableView& modules = table("modules");
  const auto open_rows = [&] {
    int out = 0;
    for (int r = 0; r < modules.view()->model()->rowCount(); ++r)
      out += modules.view()->isExpanded(modules.view()->model()->index(r, 0));
    return out;
  };
  CHECK(open_rows() > 0);
  run("open model=" + llama);
  CHECK(open_rows() > 0);
}

TEST_CASE_METHOD(WindowFixture, "versions that follow one another stand at one level, and the current one is in sight") {
  run("open model=" + gpt2);
  const auto keep = [&](const std::string& line) {
    run("append \"" + line + "\"");
    run("keep");
  };
  keep("devices 1");
  for (int n = 2; n <= 4; ++n) keep("# " + std::to_string(n));
  TableView& history = table("history");
  QTreeView& view = *history.view();
  const auto rows = [&](const QModelIndex& parent = {}) { return view.model()->rowCount(parent); };
  CHECK(rows() == 4);
  // A branch behind version 2, and another one in that: each is one level deeper, and open down to the current version.
  run("version 2");
  keep("# 5");
  keep("# 6");
  run("version 5");
  keep("# 7");
  CHECK(rows() == 2);
  const QModelIndex two = view.model()->index(1, 0);
  REQUIRE(rows(two) == 3);  // 3, 4 and 5
  const QModelIndex five = view.model()->index(2, 0, two);
  REQUIRE(rows(five) == 2);
  CHECK(view.isExpanded(two));
  CHECK(view.isExpanded(five));
  run("version 6");
  view.collapseAll();
  run("version 7");
  CHECK(view.isExpanded(five));
  CHECK_FALSE(view.visualRect(view.model()->index(1, 0, five)).isEmpty());
}

TEST_CASE_METHOD(WindowFixture, "selected rows are copied as text with headers") {
  open_pipeline();
  TableView& lanes = table("timeline");
  lanes.view()->setCurrentIndex(lanes.view()->model()->index(1, 0));
  const QStringList lines = lanes.copied_text().split('\n', Qt::SkipEmptyParts);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].startsWith("Devices\tCount\tBlocks"));
  CHECK(lines[1].startsWith("pipe=1\t1\t"));
  lanes.view()->selectAll();
  CHECK(lanes.copied_text().split('\n', Qt::SkipEmptyParts).size() == 5);
}

TEST_CASE_METHOD(WindowFixture, "rows keep their selection over an edit, are sorted by value and filtered") {
  open_pipeline();
  TableView& lanes = table("timeline");
  QAbstractItemModel& rows = *lanes.view()->model();
  lanes.view()->setCurrentIndex(rows.index(2, 0));
  run("append \"trans transformer.h[*] recompute\"");
  CHECK(lanes.view()->currentIndex().siblingAtColumn(0).data().toString() == "pipe=2");
  REQUIRE(lanes.view()->selectionModel()->selectedRows().size() == 1);
  lanes.view()->sortByColumn(3, Qt::DescendingOrder);
  const double first = rows.index(0, 3).data(PanelModel::sort_role).toDouble();
  const double last = rows.index(3, 3).data(PanelModel::sort_role).toDouble();
  CHECK(first >= last);
  lanes.filter()->setText("pipe=3");
  CHECK(rows.rowCount() == 1);
  lanes.filter()->clear();
}

TEST_CASE_METHOD(WindowFixture, "activating a problem goes to its line, the whole text of which is shown or told") {
  run("open model=" + gpt2);
  run("text \"devices 2 as data=2\\n\\ntrans * batch by dta\\n\"");
  TableView& problems = table("problems");
  REQUIRE(problems.model().rowCount() == 1);
  const QModelIndex text = problems.view()->model()->index(0, 2);
  CHECK(text.data(Qt::ToolTipRole).toString().contains("no axis 'dta'"));
  QTest::keyClick(problems.view(), Qt::Key_Return);
  problems.on_activate(problems.model().panel()->rows[0].command);
  settle();
  CHECK(window->shown().state.selection.statement == 3);
  CHECK(editor().textCursor().blockNumber() == 2);
}
