#include "explorer/explain/html/page_head.h"

#include <fmt/format.h>

#include "explorer/explain/html/assets.h"

namespace reweave {

Html page_head(const Html& title, std::string_view script_hash) {
  const std::string scripts = script_hash.empty() ? "" : fmt::format(" script-src '{}';", script_hash);
  const std::string policy =
      fmt::format("default-src 'none'; style-src '{}';{} img-src data:; base-uri 'none'; form-action 'none'",
                  kReportStyleHash, scripts);
  Html tags = empty_element("meta", {{"charset", "utf-8"}});
  tags += empty_element("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
  tags += empty_element("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  tags += empty_element("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  tags += empty_element("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
  tags += empty_element("link", {{"rel", "icon"}, {"href", "data:,"}});  // or browsers request one from the server
  tags += element("title", {}, {title});
  tags += element("style", {}, {Html::trusted(kReportStyle)});
  return element("head", {}, {tags});
}

}  // namespace reweave
